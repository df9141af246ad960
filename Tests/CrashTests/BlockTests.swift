import Glibc
import LogStore
import Testing

@testable import CrashHarness

/// A workload that marks what its user was told; and, where this machine allows it, a real file system that is crashed.
@Suite struct BlockTests {
  /// What the marks say, at every place among them, is what the pages' user knew.
  @Test func marksTellWhatWasPromised() throws {
    let folder = TemporaryFolder()
    let workload = BlockWorkload(seed: 3)
    var marks: [[UInt8]] = []
    try workload.run(in: folder.path) { marks.append($0) }
    let ledgers = try workload.ledgers(marks)
    for (number, ledger) in ledgers.enumerated() {
      let page = try Page(path: "\(folder.path)/page\(number)")
      #expect(try page.table() == ledger.present)
      #expect(page.position.lsn == ledger.presentLSN)
      #expect(ledger.presentLSN > 0)
    }
    var last = 0
    for count in 0...marks.count {
      let known = try workload.ledgers(Array(marks[..<count])).map { Int($0.baseLSN) + $0.batches.count }
      #expect(known.reduce(0, +) >= last)
      last = known.reduce(0, +)
    }
    #expect(throws: Disagreement.self) { try workload.ledgers([[0, 9]]) }
    #expect(throws: Disagreement.self) { try workload.ledgers([[7, 1]]) }
  }

  /// What does not repeat and what cannot be mounted proves nothing, so that it must be little.
  @Test func manyExceptionsAreAViolation() {
    let format = DiskFormat.all.last!
    let row = BlockTier.row(format)
    for (states, exceptions) in [(512, 1), (512, 2), (4000, 5), (4000, 6)] {
      for kind in [BlockTier.unrepeated, BlockTier.unmountable] {
        let tally = Tally()
        tally.add(row, states: states)
        tally.add(row + kind, states: exceptions)
        BlockTier().refuseMany(format, tally)
        #expect(tally.violations.count == (exceptions > 1 + states / 1000 ? 1 : 0), "\(exceptions) of \(states)\(kind)")
      }
    }
    #expect(BlockTier.mostUnmountable(of: 512, DiskFormat.all[2]) == 6)
    #expect(BlockTier.mostUnmountable(of: 512, DiskFormat.all[0]) == 1)
  }

  @Test func requestsOfTheKernelAreRead() throws {
    func request(_ operation: UInt8, body: [UInt8]) -> [UInt8] {
      [UInt8(40 + body.count), 0, 0, 0, operation, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        + [UInt8](repeating: 0, count: 16) + body
    }
    let lookup = try #require(FuseRequest(request(1, body: Array("disk\0".utf8))[...]))
    #expect(lookup.operation == .lookup && lookup.name == "disk" && lookup.unique == 5 && lookup.node == 2)
    let unknown = try #require(FuseRequest(request(99, body: [])[...]))
    #expect(unknown.operation == nil)
    #expect(FuseReply.error(ENOSYS, to: unknown) == [16, 0, 0, 0, 0xDA, 0xFF, 0xFF, 0xFF, 5, 0, 0, 0, 0, 0, 0, 0])
    #expect(FuseRequest(request(1, body: [1]).dropLast()) == nil)
    #expect(FuseRequest([1, 2, 3]) == nil)
    var reply = FuseReply()
    reply.add(node: 2, size: 1024, mode: 0o100600)
    // A header, and attributes as the kernel has them.
    #expect(reply.finished(to: lookup).count == 16 + 88)
  }

  /// Acknowledgements that come too early are found: the file systems are crashed where nothing was flushed.
  @Test(.enabled(if: DiskFormat.all[0].obstacle == nil)) func aRealFileSystemIsCrashed() throws {
    let folder = try GuardedFolder(in: "/dev/shm")
    let recording = try BlockRecording.make(DiskFormat.all[0], seed: 1, in: folder.path)
    let bench = try BlockBench(recording, in: folder.path)
    let last = recording.log.entries.count
    for end in [0, last / 3, last / 2, last] {
      #expect(try bench.judge(DiskState(end: end, fate: .seeded(1))) == .holds)
    }
    withExtendedLifetime(folder) {}
  }

  @Test(.enabled(if: DiskFormat.all[0].obstacle == nil)) func aPromiseThatComesTooEarlyIsFound() throws {
    let folder = try GuardedFolder(in: "/dev/shm")
    let recording = try BlockRecording.make(DiskFormat.all[0], seed: 1, in: folder.path)
    // The disk forgets that it was ever flushed; what was promised stays promised.
    let lying = BlockRecording(
      format: recording.format, seed: recording.seed,
      log: DiskLog(recording.log.entries.filter { $0 != .flush }), base: recording.base)
    let bench = try BlockBench(lying, in: folder.path)
    defer { withExtendedLifetime(folder) {} }
    guard case .violation = try bench.judge(DiskState(end: lying.log.entries.count, fate: .none)) else {
      Issue.record("nothing is on the disk, and nobody objects")
      return
    }
  }
}
