import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// The checks of damaged pages find fault with openings that show less, or refuse more, than the damage explains.
@Suite struct DamageOracleTests {
  // MARK: What replay comes to

  /// A journal of single frames with some bytes of each, and where they stand.
  private let frames: ([FramePlace], [UInt8]) = {
    var bytes = [UInt8](repeating: 0, count: 128)
    for number in 0..<5 {
      bytes += FrameForge.frame(
        kind: 1, isFirst: true, isLast: true, payload: [UInt8](repeating: UInt8(number), count: 20), salt: 7,
        offset: bytes.count)
    }
    return (FramePlace.all(in: bytes), bytes)
  }()

  /// Which frames are taken where some payloads and lengths are hit, by their numbers.
  private func taken(payloads: [Int], lengths: [Int] = [], tornFrom: Int? = nil, limit: Int = .max) -> [Int] {
    var (places, bytes) = frames
    var changes: [Range<Int>] = []
    for number in payloads + lengths {
      let place = places[number].offset + (lengths.contains(number) ? 2 : 10)
      bytes[place] ^= 0x40
      changes.append(place..<(place + 1))
    }
    let walk = FrameWalk(
      places, changes.sorted { $0.lowerBound < $1.lowerBound }, bytes, limit: limit, tornFrom: tornFrom)
    places = frames.0
    return walk.taken(skipping: []).map { start in places.firstIndex { $0.offset == start }! }.sorted()
  }

  @Test func aFrameAloneIsReadOnlyWhereALengthLeadsToIt() {
    #expect(taken(payloads: []) == [0, 1, 2, 3, 4])
    #expect(taken(payloads: [1, 3]) == [0, 2, 4])
    // Nothing leads to the third, and nothing verifies behind it; the last ends where the log does.
    #expect(taken(payloads: [3], lengths: [1]) == [0, 4])
    #expect(taken(payloads: [], lengths: [1]) == [0, 2, 3, 4])
    #expect(taken(payloads: [], lengths: [1, 3]) == [0, 4])
    #expect(taken(payloads: [1], tornFrom: frames.0[1].offset) == [0])
    #expect(taken(payloads: [1], tornFrom: frames.0[2].offset) == [0, 2, 3, 4])
    #expect(taken(payloads: [1, 3], tornFrom: frames.0[2].offset) == [0, 2])
    #expect(taken(payloads: [], lengths: [1], limit: frames.0[3].offset) == [0, 2])
  }

  // MARK: What is shown

  /// A page with some damage, and what a whole opening of it would show.
  private func examiner(_ name: String, _ damage: (CorpusPage) -> Damage) throws -> (DamageExaminer, Sight.Shown) {
    let page = try #require(try Corpus.page(name, seed: 1))
    let damaged = damage(page)
    let disk = page.disk.crash(.kill)
    damaged.apply(to: disk, page)
    guard case .shown(let whole) = Sight(of: page.disk, isApplication: false, policy: .salvage) else {
      throw Disagreement("\(name) does not open")
    }
    var shown = whole
    if case .shown(let told) = Sight(of: disk, isApplication: false, policy: .salvage) { shown.report = told.report }
    return (DamageExaminer(page, damaged), shown)
  }

  private func isFine(_ answer: DamageExaminer.Answer) -> Bool { if case .fine = answer { true } else { false } }

  /// A bit of a byte in each of some files.
  private func flips(_ page: CorpusPage, _ places: [(String, Int)]) -> Damage {
    Damage(edits: places.map { Damage.flip(8 * $0.1, of: $0.0, in: page.files).edits[0] })
  }

  @Test func oneBatchMoreThanTheDamageExplainsMayNotBeGone() throws {
    let (examiner, whole) = try examiner("closed-longer") { page in
      flips(page, [(page.names[0], page.anatomy.batches[40].range.lowerBound + 10)])
    }
    func without(_ lost: Set<Int>) -> Sight.Shown {
      var shown = whole
      shown.table = OrderedTable()
      for (index, batch) in examiner.page.history.enumerated() where !lost.contains(index) { shown.table.apply(batch) }
      return shown
    }
    #expect(examiner.reach.unread == [40])
    #expect(isFine(examiner.judge(.shown(without([40])), .salvage)))
    let last = examiner.page.history.count - 1
    #expect(without([40, last]).table != without([40]).table)
    #expect(!isFine(examiner.judge(.shown(without([40, last])), .salvage)))
    #expect(
      !isFine(examiner.judge(.shown(without([40, 41])), .salvage)) || without([40, 41]).table == without([40]).table)
  }

  @Test func whatAKeptGenerationHasMayNotBeRefused() throws {
    let gone = LogStoreError(.noBase, "nothing to start from")
    let (kept, whole) = try examiner("kept") { page in flips(page, [(page.anatomy.base ?? "", 3)]) }
    #expect(kept.reach.isBaseReplaceable)
    #expect(isFine(kept.judge(.shown(whole), .salvage)))
    for policy in [RecoveryPolicy.salvage, .pointInTime] { #expect(!isFine(kept.judge(.refused(gone), policy))) }
    #expect(isFine(kept.judge(.refused(LogStoreError(.damaged, "strict")), .strict)))
    let (alone, once) = try examiner("snapshot") { page in flips(page, [(page.anatomy.base ?? "", 3)]) }
    #expect(alone.page.anatomy.kept == nil)
    #expect(isFine(alone.judge(.refused(gone), .salvage)))
    #expect(!isFine(alone.judge(.shown(once), .salvage)))
  }

  @Test func besideCompoundDamageWhatNothingHasHitMustBeThere() throws {
    let (examiner, whole) = try examiner("kept") { page in
      // The base, and a journal that would have stood in for it.
      flips(page, [(page.anatomy.base ?? "", 3), ("0000000000.journal", 150)])
    }
    #expect(examiner.reach.isCompound)
    #expect(isFine(examiner.judge(.shown(whole), .salvage)))
    // One that a batch behind the base puts, and that none removes.
    let base = try #require(examiner.page.anatomy.batches.first?.index)
    let key = try #require(
      examiner.page.history[base...].joined().lazy.compactMap {
        if case .put(let key, _) = $0, whole.table[key] != nil { key } else { nil }
      }.first)
    var less = whole
    less.table.apply(.remove(key))
    #expect(!isFine(examiner.judge(.shown(less), .salvage)))
    var other = whole
    other.table.apply(.put(key, Array("never written".utf8)))
    #expect(!isFine(examiner.judge(.shown(other), .salvage)))
  }

  /// Two sectors that hold each other's bytes do so whichever is named first.
  @Test func theSameBytesCountOnce() throws {
    let page = try #require(try Corpus.page("kept", seed: 1))
    let sectors = SectorDamage(page: page, size: 512, seed: 1)
    let (one, other) = (sectors.places[0], sectors.places[2])
    let there = try #require(sectors.damage(.swapped, one, other))
    let back = try #require(sectors.damage(.swapped, other, one))
    #expect(there != back && there.print(page, 1) == back.print(page, 1))
    #expect(there.print(page, 1) != there.print(page, 2))
    let noise = try #require(sectors.damage(.noise, one, nil))
    #expect(try #require(sectors.damage(.zeros, one, nil)).print(page, 1) != noise.print(page, 1))
    #expect(Damage.cut(one.file, to: 140).print(page, 1) != Damage.cut(one.file, to: 141).print(page, 1))
  }

  // MARK: The command

  /// Programs in the place of the command and of strace.
  private struct FakeTools {
    private let folder = TemporaryFolder()
    private let tools: LogctlTools

    /// - Parameter body: what the command does, for a shell.
    init(_ body: String) {
      let command = folder.path + "/logctl"
      tools = LogctlTools(logctl: command, strace: folder.path + "/strace")
      FakeTools.install(body, at: command)
      // It runs what follows its own options.
      FakeTools.install("while [ \"$1\" != \(command) ]; do shift; done\nexec \"$@\"", at: tools.strace)
    }

    // The programs last as long as the folder, which must not go before they have run.
    func undisturbed(_ scenario: LogctlScenario) throws -> LogctlRun {
      try withExtendedLifetime(folder) { try LogctlRun(scenario, tools.logctl) }
    }

    func run(
      _ one: LogctlCase, _ scenario: LogctlScenario, _ undisturbed: LogctlRun, patience: Int = 20
    ) throws -> (fired: Bool, problem: String?) {
      try withExtendedLifetime(folder) {
        try one.run(scenario, tools, undisturbed: undisturbed, patience: patience)
      }
    }

    private static func install(_ body: String, at path: String) {
      TemporaryFolder.write(Array("#!/bin/sh\n\(body)\n".utf8), to: path)
      #expect(ChildProcess.succeeds("chmod", "+x", path))
    }
  }

  private static let call = SystemCall(name: "pread64", number: 1)

  @Test func aCommandThatHangsIsTold() throws {
    let scenario = try LogctlScenario(.verify)
    let undisturbed = try FakeTools("exit 0").undisturbed(scenario)
    let fake = FakeTools("sleep 30")
    for interference in [Interference.kill, .inputOutput] {
      let one = LogctlCase(.verify, interference, DamageOracleTests.call, isRepeating: false)
      let outcome = try fake.run(one, scenario, undisturbed, patience: 1)
      #expect(outcome.problem == "it hangs")
      #expect(!outcome.fired)
    }
  }

  /// Who swallows an error and ends as if nothing had been, and who takes a whole page for a damaged one.
  @Test(arguments: [
    (LogctlScenario.Command.verify, "echo clean; exit 0", nil),
    (.verify, "echo empty; exit 0", "it exits with 0, and prints something else than otherwise: empty\n"),
    (.replay, "exit 0", "it exits with 0, and prints something else than otherwise: "),
    (.verify, "echo clean; exit 2", "it exits with 2"), (.replay, "echo clean; exit 3", "it exits with 3"),
    (.verify, "echo half; exit 74", nil), (.verify, "exit 66", "it exits with 66"),
    (.replay, "echo clean; exit 2", nil), (.replay, "echo half; exit 2", "it exits with 2, and prints something else"),
    (.salvage, "exit 2", nil),
  ])
  func aCommandThatIsNotHonestIsTold(command: LogctlScenario.Command, body: String, problem: String?) throws {
    let scenario = try LogctlScenario(command)
    let undisturbed = try FakeTools("echo clean; exit 0").undisturbed(scenario)
    let fake = FakeTools(body)
    let one = LogctlCase(command, .inputOutput, DamageOracleTests.call, isRepeating: false)
    #expect(try fake.run(one, scenario, undisturbed).problem == problem)
    // Damage may be found where the medium has failed, and not where access was refused.
    if body.hasSuffix("2") {
      let other = LogctlCase(command, .refused, DamageOracleTests.call, isRepeating: false)
      #expect(try fake.run(other, scenario, undisturbed).problem == "it exits with 2")
    }
  }

  @Test func howLongAnImportTookIsNotCompared() throws {
    let scenario = try LogctlScenario(.import)
    #expect(scenario.stable(bytes("imported\n 0.1 s")) == scenario.stable(bytes("imported\n 0.2 s")))
    #expect(scenario.stable(bytes("imported 1\n")) != scenario.stable(bytes("imported 2\n")))
    let verify = try LogctlScenario(.verify)
    #expect(verify.stable(bytes("one\ntwo")) != verify.stable(bytes("one\nthree")))
  }

  /// strace counts the calls of each thread by themselves: with those of all in one count, the number named another call.
  @Test func aCallIsCountedAmongThoseOfItsOwnThread() {
    let trace = """
      10 openat(AT_FDCWD, "/lib/libc.so", O_RDONLY) = 3
      10 read(3, "", 4) = 4
      11 openat(AT_FDCWD, "/proc/x", O_RDONLY) = 4
      10 openat(AT_FDCWD, "page", O_RDONLY <unfinished ...>
      11 read(4,  <unfinished ...>
      10 <... openat resumed>) = 5
      11 <... read resumed>"", 4) = 0
      10 getpid() = 10
      10 read(5, "", 4) = 4
      11 fsync(6) = 0
      10 read(5, "", 4) = 4
      11 +++ exited with 0 +++
      10 close(5) = 0
      """
    let (calls, others) = SystemCall.all(in: trace, page: "page")
    #expect(
      calls == [
        SystemCall(name: "openat", number: 2), SystemCall(name: "read", number: 2), SystemCall(name: "read", number: 3),
        SystemCall(name: "close", number: 1),
      ])
    #expect(others == 2)
  }

  @Test func casesThatNeverComeToTheirCallAreNextToNone() {
    for (fired, missed) in [(210, 0), (210, 1), (1300, 1), (1300, 2)] {
      let tally = Tally()
      tally.add(LogctlSweep.row, states: fired)
      tally.add(LogctlSweep.row + LogctlSweep.unreached, states: missed)
      LogctlSweep.judge(tally)
      #expect(tally.violations.count == (missed > fired / 1000 ? 1 : 0), "\(missed) of \(fired)")
    }
  }
}
