import Glibc
import LogStore
import Testing

@testable import CrashHarness

/// Children that are killed, and what their parent knows of them.
@Suite(.serialized) struct KillTests {
  @Test func killsLeaveWhatWasAcknowledged() throws {
    for seed in Seeds.some(1..<3) {
      var series = try KillSeries(seed: seed, in: "/tmp")
      for _ in 0..<8 {
        if let violation = try series.kill() { Issue.record("\(violation)") }
      }
      #expect(series.children == 8)
      #expect(series.phases.values.reduce(0, +) == series.kills)
    }
  }

  /// A child that ends by itself is checked as well, and is no kill.
  @Test func whoHasEndedWasNotKilled() throws {
    var series = try KillSeries(seed: 3, in: "/tmp")
    #expect(try series.kill(at: .never) == nil)
    #expect(series.children == 1 && series.kills == 0 && series.phases.isEmpty)
    #expect(try series.kill(at: .after(0)) == nil)
    #expect(series.children == 2 && series.kills == 1 && series.phases.values.reduce(0, +) == 1)
  }

  @Test func whatOneHasToldTheOtherSees() throws {
    let folder = TemporaryFolder()
    let child = try KillChannel(folder.path + "/channel")
    let parent = try KillChannel(folder.path + "/channel")
    for index in 0..<4 { child.begin(2, index) }
    child.acknowledge(2, 0, Position(salt: 7, lsn: 9))
    child.refuse(2, 1)
    child.acknowledge(2, 2, Position(salt: 7, lsn: 10))
    child.phase = .closing
    child.complain("something")
    #expect(parent.begun(2) == 4)
    #expect(parent.begun(1) == 0)
    #expect(parent.fate(2, 0) == .acknowledged(Position(salt: 7, lsn: 9)))
    #expect(parent.fate(2, 1) == .refused)
    #expect(parent.fate(2, 3) == .open)
    #expect(parent.phase == .closing)
    #expect(parent.complaint == "something")
    // Not the refused one; the open one with no position; nothing on the other page.
    let issued = parent.issued(seed: 5, page: 0, of: 2)
    #expect(issued.map(\.position?.lsn) == [9, 10, nil])
    #expect(issued.map(\.operations) == [0, 2, 3].map { WriterScript(seed: 5, writer: 2).act($0).operations })
    #expect(parent.issued(seed: 5, page: 1, of: 2).isEmpty)
    parent.clear()
    #expect(child.begun(2) == 0)
    #expect(child.fate(2, 0) == .open)
    #expect(child.complaint == nil)
  }

  /// A page that lacks what was acknowledged is found, and so it is when the case that was kept is judged again.
  @Test func aCaseThatWasKeptIsJudgedAgain() throws {
    let folder = TemporaryFolder()
    let channel = try KillChannel(folder.path + "/channel")
    let script = WriterScript(seed: 11, writer: 0)
    let page = try Page(path: folder.path + "/page0")
    for index in 0..<3 {
      channel.begin(0, index)
      let position = try page.write(WriteBatch(script.act(index).operations))
      channel.acknowledge(0, index, position)
    }
    try page.close()
    let pages = [KilledPage(folder.path + "/page0")]
    let good = try KillCase(childSeed: 11, pages: pages).save(seed: 1, child: 1, channel: channel.path)
    defer { remove(good) }
    #expect(try KillCase.objection(good) == nil)
    channel.begin(0, 3)
    channel.acknowledge(0, 3, Position(salt: page.position.salt, lsn: page.position.lsn + 1))
    let bad = try KillCase(childSeed: 11, pages: pages).save(seed: 1, child: 2, channel: channel.path)
    defer { remove(bad) }
    #expect(try KillCase.objection(bad)?.contains("acknowledged up to") == true)
    #expect(try KillTier().replay(bad)?.replay == "t2:\(bad)")
  }

  private func remove(_ folder: String) { _ = ChildProcess.succeeds("rm", "-r", folder) }

  @Test func aTableIsReadAsItWasWritten() throws {
    var table = OrderedTable()
    table.apply([.put([1], []), .put([2, 3], [UInt8](repeating: 4, count: 300))])
    let bytes = TableBytes.encode(table, lsn: 12)
    let read = try #require(TableBytes.decode(bytes))
    #expect(read.table == table)
    #expect(read.lsn == 12)
    for count in 9..<bytes.count where TableBytes.decode(Array(bytes[..<count])) != nil {
      // Only between two records.
      #expect(count == 8 + 17)
    }
  }

  /// What is mounted, running or lying in a folder goes when the process that made it is killed.
  @Test func aFolderGoesWithTheProcessThatMadeIt() throws {
    let folder = TemporaryFolder()
    TemporaryFolder.write([1], to: folder.path + "/left")
    let line = "\"$0\" \(GuardedFolder.mode) \(folder.path) $$ & exec sleep 100"
    let owner = try ChildProcess(["-c", line, ChildProcess.program], program: "bash")
    usleep(200_000)
    #expect(TemporaryFolder.names(in: folder.path) == ["left"])
    owner.kill()
    owner.wait()
    var tries = 0
    while unsafe access(folder.path, F_OK) == 0, tries < 500 {
      usleep(20_000)
      tries += 1
    }
    #expect(unsafe access(folder.path, F_OK) != 0)
  }
}
