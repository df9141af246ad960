import Dispatch
import Synchronization
import Testing

@testable import LogStore

/// A new snapshot is read back while it is written: all of it, once, from the medium, and before it gets its name.
struct ReadBackTests {
  /// About 40 KiB, of which each 4 KiB are read back as they come.
  private static let records = SnapshotFixture.records(500)
  private static let stretch = 4 << 10

  private func writer(
    _ directory: MemoryDirectory, stretch: Int = ReadBackTests.stretch, durability: Durability = .power,
    isInline: Bool = false, start: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
  ) throws -> SnapshotWriter {
    var settings = SnapshotWriter.Settings()
    settings.readBackBytes = stretch
    settings.durability = durability
    if isInline { settings.startHelper = HelperStart { $0() } }
    if let start { settings.startHelper = HelperStart(start) }
    let writer = try SnapshotWriter(
      directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header,
      losses: SnapshotFixture.losses, settings: settings)
    do {
      for record in ReadBackTests.records { try writer.append(record) }
    } catch {
      writer.cancel()
      throw error
    }
    return writer
  }

  /// Writes on until the thread has read something.
  private func goOn(_ writer: SnapshotWriter, in directory: MemoryDirectory) throws {
    var dice = Dice(1)
    for _ in 0..<20_000 where directory.faults.drops.isEmpty {
      rest()
      try writer.append(TestRecord(key: Array("more \(writer.count)".utf8), value: dice.bytes(1_000)))
    }
  }

  /// Where the processors all wait in a loop, the system starts no thread.
  private func rest() { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1)) }

  /// Expects that ranges follow one another from the beginning on, and returns where the last ends.
  private func end(of ranges: [Range<UInt64>]) -> UInt64 {
    var end: UInt64 = 0
    for range in ranges {
      #expect(range.lowerBound == end)
      end = range.upperBound
    }
    return end
  }

  @Test(arguments: [Durability.power, .ordered, .process])
  func everyByteIsReadBackOnce(_ durability: Durability) throws {
    let directory = MemoryDirectory()
    let size = try writer(directory, durability: durability).finish()
    #expect(end(of: directory.faults.drops) == size)
    let reader = try SnapshotFixture.open(directory.bytes(SnapshotFixture.name + ".tmp"))
    #expect(try SnapshotFixture.sweep(reader) == ReadBackTests.records)
    #expect(try reader.verifyAll() == [])
  }

  /// Beside the writing, whole stretches are read, each once it is written out; the rest behind the sync.
  @Test func whatIsReadBesideTheWritingIsWrittenOutFirst() throws {
    let directory = MemoryDirectory()
    let size = try writer(directory, isInline: true).finish()
    let faults = directory.faults
    let stretches = (0..<UInt64(faults.awaited.count)).map { number in
      let start: UInt64 = number * 4096
      return start..<start + 4096
    }
    #expect(faults.awaited == stretches)
    #expect(Array(faults.drops.dropLast()) == stretches)
    #expect(faults.drops.last?.upperBound == size)
    // One stretch is always under way while another is read, and the last ones are left for the end.
    #expect(end(of: faults.asked) == UInt64(size) / 4096 * 4096)
    #expect(stretches.count == Int(size) / 4096 - 1)
    let sync = try #require(faults.calls.firstIndex(of: .sync))
    #expect(faults.calls[..<sync].count { $0 == .writeOut } == faults.asked.count + stretches.count)
    #expect(!faults.calls[sync...].contains(.writeOut))
  }

  /// Otherwise it would be read from memory, and show nothing.
  @Test(arguments: [true, false])
  func whereNothingCanBeWrittenOutAllIsReadBehindTheSync(_ isInline: Bool) throws {
    let directory = MemoryDirectory()
    directory.faults.forgetHowToWriteOut()
    let size = try writer(directory, isInline: isInline).finish()
    #expect(directory.faults.drops == [0..<size])
    #expect(directory.faults.calls.prefix { $0 != .sync }.allSatisfy { $0 != .read })
  }

  /// In header, losses, records, tables and footer, whoever reads them.
  @Test(arguments: [0, 100, 150, 1_000, 5_000, 12_288, 20_000, -4_000, -1_000, -30, -1], [true, false])
  func whatRotsAnywhereIsRefused(_ place: Int, _ isInline: Bool) throws {
    let size = try writer(MemoryDirectory()).finish()
    let offset = UInt64(place >= 0 ? place : Int(size) + place)
    let directory = MemoryDirectory()
    directory.faults.rot(at: offset)
    let writer = try writer(directory, isInline: isInline)
    let error = #expect(throws: LogStoreError.self) { try writer.finish() }
    #expect(error?.code == .damaged)
    // It has not been looked at again.
    #expect(directory.faults.drops.count { $0.contains(offset) } == 1)
    writer.cancel()
    #expect(directory.names == [])
  }

  /// The system tells it once: to whoever waits for the stretch, and not to the sync behind.
  @Test(arguments: [1_000, 8_192, 15_000], [true, false])
  func aWriteThatFailsBehindTheWriterFailsTheSnapshot(_ place: UInt64, _ isInline: Bool) throws {
    let directory = MemoryDirectory()
    directory.faults.failWriteOut(at: place, errno: StorageError.inputOutput)
    let writer = try writer(directory, isInline: isInline)
    if !isInline { while !directory.faults.awaited.contains(where: { $0.contains(place) }) {} }
    let error = #expect(throws: LogStoreError.self) { try writer.finish() }
    #expect(error?.code == .io)
    #expect(directory.faults.calls.contains(.sync))
    #expect(!directory.faults.drops.contains { $0.contains(place) })
    writer.cancel()
    #expect(directory.names == [])
  }

  @Test func anInterruptedWaitIsTakenUpAgain() throws {
    let directory = MemoryDirectory()
    directory.faults.failWriteOut(at: 1_000, errno: StorageError.interrupted)
    _ = try writer(directory, isInline: true).finish()
    #expect(directory.faults.awaited.count { $0.contains(1_000) } == 2)
  }

  /// Each call of either thread fails, once or from then on: an error, and nothing is left.
  @Test(arguments: [false, true], [false, true])
  func everyCallFails(_ stays: Bool, _ isInline: Bool) throws {
    let undisturbed = MemoryDirectory()
    _ = try writer(undisturbed, isInline: isInline).finish()
    for call in 0..<undisturbed.faults.calls.count {
      let directory = MemoryDirectory()
      directory.faults.fail(call: call, errno: 28, stays: stays)
      do {
        let writer = try writer(directory, isInline: isInline)
        defer { writer.cancel() }
        _ = try writer.finish()
        // Two threads do not share the work in the same way each time.
        #expect(!isInline && directory.faults.calls.count <= call, "call \(call)")
      } catch {
        #expect((error as? LogStoreError)?.code == .noSpace, "call \(call)")
      }
      #expect(directory.names == [], "call \(call)")
    }
  }

  @Test func aThreadThatNeverComesHoldsNothingUp() throws {
    let late = Mutex<[@Sendable () -> Void]>([])
    let directory = MemoryDirectory()
    let size = try writer(directory) { work in late.withLock { $0.append(work) } }.finish()
    #expect(directory.faults.drops == [0..<size])
    let works = late.withLock { $0 }
    #expect(works.count == 1)
    // And does nothing when it comes at last.
    for work in works { work() }
    #expect(directory.faults.drops == [0..<size])
    #expect(directory.faults.asked == [])
  }

  @Test func aSmallSnapshotStartsNoThread() throws {
    let directory = MemoryDirectory()
    let size = try writer(directory, stretch: 32 << 10) { _ in Issue.record("a thread was started") }.finish()
    #expect(directory.faults.drops == [0..<size])
  }

  /// Cancelling, and letting go, wait for the thread, which has the file open.
  @Test(arguments: [true, false]) func nothingIsReadOnceItIsOver(_ cancels: Bool) throws {
    let directory = MemoryDirectory()
    let running = Mutex(0)
    var writer: SnapshotWriter? = try writer(directory) { work in
      running.withLock { $0 += 1 }
      DispatchQueue.global().async {
        work()
        running.withLock { $0 -= 1 }
      }
    }
    try goOn(#require(writer), in: directory)
    if cancels { writer?.cancel() }
    writer = nil
    let drops = directory.faults.drops.count
    while running.withLock({ $0 }) > 0 { rest() }
    #expect(directory.faults.drops.count == drops)
    if cancels { #expect(directory.names == []) }
  }

  /// Whoever waits for the thread is asked meanwhile whether it is to go on.
  @Test func cancellingWhileTheThreadReads() throws {
    let directory = MemoryDirectory()
    directory.faults.slowDown()
    let writer = try writer(directory)
    try goOn(writer, in: directory)
    let asked = Mutex<[Progress]>([])
    let error = #expect(throws: LogStoreError.self) {
      try writer.finish { made in
        asked.withLock { $0.append(made) }
        return false
      }
    }
    #expect(error?.code == .cancelled)
    #expect(asked.withLock { $0.count } == 1)
    #expect(end(of: directory.faults.drops) < UInt64(directory.bytes(writer.temporaryName).count))
    writer.cancel()
    #expect(directory.names == [])
  }
}
