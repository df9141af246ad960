import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Counts the frames that it was given.
private struct Frames: PageState {
  static let identifier: UInt32 = 7
  var count = 0
  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) { count += 1 }
  func write(to writer: inout StateWriter) throws {
    for _ in 0..<count { try writer.append(FrameKind(rawValue: 32), "frame") }
  }
}

@Suite struct StateCompactionTests {
  @Test func aReadThatFailsDuringACompactionLosesNothingOfWhatIsShown() throws {
    for call in 0..<60 {
      let storage = SimulatedStorage(seed: 1)
      let page = try StatePage<Frames>(path: pagePath, options: quietOptions(storage))
      var batch = WriteBatch()
      for _ in 0..<5 { try batch.append(FrameKind(rawValue: 32), "frame") }
      try page.write(batch)
      storage.fail(Fault(.read, .error(EIO), after: call))
      do { try page.compact() } catch {}
      storage.heal()
      #expect(try page.state().count == 5, "read \(call)")
      try page.write(batch)
      #expect(try page.state().count == 10, "read \(call)")
    }
  }
}
