import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// One writer at a time, and none that is gone.
@Suite struct LockTests {
  @Test func aSecondWriterIsRefusedAndReadersAreNot() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    let before = storage.files(in: pagePath)
    for mode in [OpenMode.create, .readWrite] {
      let error = #expect(throws: LogStoreError.self) { try Page.open(storage, mode) }
      #expect(error?.code == .locked)
    }
    #expect(storage.files(in: pagePath) == before)
    #expect(try Page.open(storage, .readOnly).keys() == ["a"])
    try page.close()
    _ = try Page.open(storage)
  }

  @Test func anOpeningThatFailsLetsGoOfTheLock() throws {
    let whole = SimulatedStorage(seed: 2)
    let page = try Page.open(whole)
    try page.put("one", for: "a")
    for place in 0..<60 {
      let storage = whole.crash(.kill)
      storage.fail(Fault(nil, .error(EIO), after: place))
      do {
        let again = try Page.open(storage)
        try again.close()
      } catch {}
      #expect(!storage.isLocked(pagePath), "call \(place)")
    }
  }

  @Test func aKilledHolderLeavesNoLock() throws {
    let storage = SimulatedStorage(seed: 3)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    #expect(try Page.open(storage.crash(.kill)).keys() == ["a"])
    withExtendedLifetime(page) {}
  }

  /// Until a child that is being started has replaced its program, it holds every descriptor a second time.
  @Test func aPageThatIsLetGoIsFreeThoughAChildHoldsItsDescriptor() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/page"
    var page: Page? = try Page(path: path)
    try page?.put("one", for: "a")
    let descriptors = TemporaryFolder.names(in: "/proc/self/fd").compactMap { Int32($0) }.filter { descriptor in
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = unsafe readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
      return String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path
    }
    #expect(!descriptors.isEmpty)
    let copies = descriptors.map { dup($0) }
    defer { for copy in copies { Glibc.close(copy) } }
    page = nil
    #expect(try Page(path: path).view().records().count == 1)
  }

  @Test(arguments: [ENOLCK, ENOSYS, EIO])
  func aLockThatCannotBeTakenIsAnErrorAndNotALockHeldByAnother(errno: Int32) throws {
    let storage = SimulatedStorage(seed: 4)
    storage.fail(Fault(.lock, .error(errno)))
    let error = #expect(throws: LogStoreError.self) { try Page.open(storage) }
    #expect(error?.code != .locked)
    #expect(error?.errno == errno)
    _ = try Page.open(storage)
  }

  @Test func theLockExcludesAcrossDescriptorsOfTheRealSystem() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/page"
    var options = PageOptions()
    options.compaction = .manual
    let page = try Page(path: path, options: options)
    // A lock belongs to an open file, not to a process: another descriptor stands for another process.
    let other = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
    try page.suspend()
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    let error = #expect(throws: LogStoreError.self) { try page.resume() }
    #expect(error?.code == .locked)
    #expect(throws: LogStoreError.self) { try Page(path: path, mode: .readWrite, options: options) }
    #expect(try Page(path: path, mode: .readOnly, options: options).view().isEmpty)
    // Not by closing alone: a process that is being started at this moment may share the open file.
    #expect(flock(other, LOCK_UN) == 0)
    close(other)
    try page.resume()
    try page.put("one", for: "a")
    try page.close()
  }

  @Test func aProcessThatIsKilledWithTheLockLeavesThePageFree() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/page"
    var options = PageOptions()
    options.compaction = .manual
    try Page(path: path, options: options).close()
    // `flock` of util-linux holds the directory's lock for as long as its command runs.
    guard unsafe access("/usr/bin/flock", X_OK) == 0 else { return }
    let child = try #require(spawn(["/usr/bin/flock", path, "/bin/sleep", "600"]))
    var code: LogStoreError.Code?
    let isHeld = eventually {
      do throws(LogStoreError) {
        try Page(path: path, mode: .readWrite, options: options).close()
      } catch {
        code = error.code
      }
      return code != nil
    }
    #expect(isHeld && code == .locked)
    // The holder and its command make a process group of their own.
    kill(-child, SIGKILL)
    var status: Int32 = 0
    unsafe waitpid(child, &status, 0)
    var other: LogStoreError?
    let isFree = eventually {
      do throws(LogStoreError) {
        try Page(path: path, mode: .readWrite, options: options).close()
        return true
      } catch {
        if error.code != .locked { other = error }
        return false
      }
    }
    #expect(isFree && other == nil)
  }

  private func spawn(_ arguments: [String]) -> pid_t? {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { unsafe words.forEach { unsafe free($0) } }
    var child: pid_t = 0
    return unsafe posix_spawn(&child, arguments[0], nil, &attributes, words, environ) == 0 ? child : nil
  }
}
