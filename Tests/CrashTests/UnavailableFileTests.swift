import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What a locked device refuses, or a disk cannot read for now, is neither damage nor an empty page.
@Suite struct UnavailableFileTests {
  /// A page with two generations, and a file of bytes that a recovery has set aside; and what it shows.
  private func page() throws -> (SimulatedStorage, [String]) {
    let storage = SimulatedStorage(seed: 1)
    try Page.open(storage).put("one", for: "a")
    storage.edit(pagePath + "/0000000000.journal") { $0 += [UInt8](repeating: 0xA5, count: 90) }
    let killed = storage.crash(.kill)
    let page = try Page.open(killed)
    try page.put("two", for: "b")
    try page.compact(keep: Retention.all)
    try page.put("three", for: "c")
    try page.close()
    return (killed, ["a", "b", "c"])
  }

  private func isExpected(_ error: any Error, _ errno: Int32) -> Bool {
    (error as? LogStoreError)?.code == (errno == EIO ? .io : .unavailable)
  }

  @Test(arguments: [EPERM, EACCES, EIO], [OpenMode.readWrite, .readOnly])
  func aFileThatIsRefusedIsNeitherDamagedNorAbsent(errno: Int32, mode: OpenMode) throws {
    let (whole, keys) = try page()
    let names = whole.names(in: pagePath)
    #expect(Set(names.compactMap { $0.split(separator: ".").last }) == ["journal", "snapshot", "quarantine"])
    var refusals = 0
    for name in names {
      let storage = whole.crash(.kill)
      storage.fail(Fault(nil, .error(errno), repeating: true) { $0 == name })
      do {
        let page = try Page.open(storage, mode)
        #expect(page.report.findings.allSatisfy { $0.severity != .damage }, "\(name): \(page.report.findings)")
        #expect(try page.keys() == keys, "\(name)")
      } catch {
        refusals += 1
        #expect(isExpected(error, errno), "\(name): \(error)")
      }
      // Nothing was removed on the way, and the fault gone, all is there.
      storage.heal()
      #expect(Set(storage.names(in: pagePath)).isSuperset(of: names), "\(name)")
      #expect(try Page.open(storage, mode).keys() == keys, "\(name)")
    }
    // The newest snapshot and its journal, at the least.
    #expect(refusals >= 2)
  }

  @Test(arguments: [EPERM, EACCES, EIO])
  func aFileThatIsRefusedUnderAnOpenPageIsAnErrorUntilItIsServedAgain(errno: Int32) throws {
    let (whole, keys) = try page()
    for name in whole.names(in: pagePath) {
      let storage = whole.crash(.kill)
      let page = try Page.open(storage, .readOnly)
      storage.fail(Fault(nil, .error(errno), repeating: true) { $0 == name })
      do {
        #expect(try page.table().records.map { String(decoding: $0.key, as: UTF8.self) } == keys, "\(name)")
      } catch {
        #expect(isExpected(error, errno), "\(name): \(error)")
      }
      storage.heal()
      #expect(try page.keys() == keys, "\(name)")
    }
  }

  /// A page of an application's state, large enough that the copy is written in pieces.
  private func applicationPage() throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 2)
    let page = try StatePage<Chronicle>(path: pagePath, options: quietOptions(storage))
    for number in 0..<40 {
      let value = [UInt8](repeating: UInt8(number), count: 60_000)
      try page.write(Chronicle.batch([.put(bytes("key \(number)"), value)]), durability: .process)
    }
    try page.compact(keep: Retention.none)
    try page.close()
    return storage
  }

  /// Found by refusing each call of a salvage: it reported damage, and the copy lacked what had been refused for now.
  @Test(arguments: [EPERM, EACCES], [true, false])
  func aSalvageThatIsRefusedAReadLeavesNoCopyWithoutIt(errno: Int32, application: Bool) throws {
    let storage = application ? try applicationPage() : try page().0
    let snapshot = try #require(storage.names(in: pagePath).last { $0.hasSuffix(".snapshot") })
    var refusals = 0
    for place in 0..<12 {
      let disk = storage.crash(.kill)
      disk.fail(Fault(.read, .error(errno), after: place, repeating: true) { $0 == snapshot })
      do {
        let report = try PageInspector(path: pagePath, storage: disk).salvage(to: "/copy", options: quietOptions(disk))
        #expect(!disk.faultHasFired, "read \(place): \(report.findings)")
      } catch {
        refusals += 1
        #expect(error.code == .unavailable, "read \(place): \(error)")
        #expect(disk.names(in: "/copy").isEmpty, "read \(place)")
      }
    }
    #expect(refusals > 0)
  }

  @Test func aSalvageWithoutRoomForAnApplicationsStateSaysSo() throws {
    let storage = try applicationPage()
    storage.freeBytes = 1_500_000
    let error = #expect(throws: LogStoreError.self) {
      try PageInspector(path: pagePath, storage: storage).salvage(to: "/copy", options: quietOptions(storage))
    }
    #expect(error?.code == .noSpace)
  }

  /// A read error that passes is not the end of the log, whichever read it was: nothing is cut off behind it.
  @Test(arguments: [OpenMode.readWrite, .readOnly], [true, false])
  func aReadErrorAtAnyReadOfAnOpeningCutsNothingOff(mode: OpenMode, closed: Bool) throws {
    let whole = SimulatedStorage(seed: 6)
    let page = try Page.open(whole)
    for number in 0..<40 { try page.put(String(repeating: "v", count: 400), for: "key \(number)") }
    try page.compact(keep: Retention.all)
    for number in 40..<80 { try page.put(String(repeating: "v", count: 400), for: "key \(number)") }
    if closed { try page.close() }
    var place = 0
    while true {
      let storage = whole.crash(.kill)
      let before = storage.files(in: pagePath)
      storage.fail(Fault(.read, .error(EIO), after: place))
      do {
        let page = try Page.open(storage, mode)
        // Whoever is not told of it has not needed what could not be read.
        #expect(page.report.findings.allSatisfy { $0.severity != .damage }, "read \(place)")
        #expect(try page.view().count == 80, "\(String(describing: storage.firstFailure))")
      } catch {
        #expect(storage.faultHasFired && error.code == .io, "read \(place): \(error)")
      }
      guard storage.faultHasFired else { break }
      storage.heal()
      for (name, bytes) in before { #expect(storage.contents(of: pagePath + "/" + name) == bytes, "read \(place)") }
      let again = try Page.open(storage, mode)
      #expect(try again.view().count == 80, "read \(place)")
      #expect(again.position.lsn == 80)
      place += 1
    }
    #expect(place >= 3)
  }
}
