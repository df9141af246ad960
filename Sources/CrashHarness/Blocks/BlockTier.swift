import Glibc
import LogStore
import LogStoreTesting
import Synchronization

/// Tier 3: the engine on a real file system, whose disk is crashed.
///
/// A workload runs on a file system whose disk records every write and flush, and every acknowledgement in its place
/// among them. Then the disk is made again as a power cut may have left it: everything up to a flush, and some of what
/// came after. The system mounts and recovers it, and the pages must keep what was promised.
///
/// What this cannot show: a directory sync that the engine leaves out. These file systems write a new name to their log
/// together with whatever is synced next, so the name is there all the same; tier 0, whose model promises nothing of the
/// kind, shows it. Nor does it show a disk that breaks its own promises: flushes that flush nothing, sectors that rot,
/// writes that land elsewhere. What was written to the disk while a flush was under way counts as flushed if it arrived
/// before, as in a real disk's queue.
struct BlockTier: Tier {
  static let name = "t3"
  static let summary = "real file systems on a disk whose log is cut anywhere (root, FUSE, loop devices)"
  static let share = 0.09

  /// For each file system: 512 states, of which a few may not be mountable.
  private static let recordingsInCI = 4
  private static let statesOfRecording = 128

  func run(_ plan: Plan, _ tally: Tally) throws {
    let formats = DiskFormat.all.filter { format in
      guard let obstacle = format.obstacle else { return true }
      CrashCommand.complain("t3 \(format.name) is SKIPPED: \(obstacle)")
      tally.skip(BlockTier.row(format), because: obstacle)
      return false
    }
    guard !formats.isEmpty else { return }
    let next = Atomic<Int>(0)
    let faults = Mutex<[any Error]>([])
    let recordings = BlockTier.recordingsInCI * formats.count
    SystemThread.run(BlockTier.threads(plan)) { _ in
      while faults.withLock({ $0.isEmpty }), !plan.isOver {
        let number = next.add(1, ordering: .relaxed).oldValue
        if plan.isCI, number >= recordings { return }
        var random = SeededRandom(seed: plan.seed ^ UInt64(number + 1) << 24)
        do {
          try BlockTier.explore(formats[number % formats.count], seed: random.next(), plan, tally)
        } catch {
          faults.withLock { $0.append(error) }
        }
      }
    }
    if let fault = faults.withLock({ $0.first }) { throw fault }
    for format in formats { refuseMany(format, tally) }
  }

  /// Exceptions are a few, and are told: a row in which they are many proves nothing.
  func refuseMany(_ format: DiskFormat, _ tally: Tally) {
    let row = BlockTier.row(format)
    let states = tally.rows.first { $0.name == row }?.states ?? 0
    func count(_ kind: String) -> Int { tally.rows.first { $0.name == row + kind }?.states ?? 0 }
    let (unrepeated, unmountable) = (count(BlockTier.unrepeated), count(BlockTier.unmountable))
    CrashCommand.say("\(row): of \(states) states \(unrepeated) did not repeat; \(unmountable) more were not mountable")
    for (kind, count, most) in [
      (BlockTier.unrepeated, unrepeated, BlockTier.mostUnrepeated(of: states)),
      (BlockTier.unmountable, unmountable, BlockTier.mostUnmountable(of: states, format)),
    ] where count > most {
      let what = "\(row): \(count) of \(states)\(kind), and \(most) may be so"
      tally.violation(Violation(what: what), in: row)
    }
  }

  /// None of 13,000 in a measured run; but what else the machine does with its loop devices is not ours.
  static func mostUnrepeated(of states: Int) -> Int { 1 + states / 1000 }

  /// In the same run 1 in 430 with ext4's fast commits, whose log the kernel cannot always replay, 1 in 7,800 with its other
  /// modes, and none with xfs and btrfs. What is added lets a run of 512 states have four times its share.
  static func mostUnmountable(of states: Int, _ format: DiskFormat) -> Int {
    format.hasFastCommits ? 4 + states / 200 : 1 + states / 1000
  }

  static let unrepeated = ", did not repeat"
  static let unmountable = ", not mountable"

  /// Mounting is mostly waiting: three share a processor.
  private static func threads(_ plan: Plan) -> Int { 3 * plan.workers }

  static func row(_ format: DiskFormat) -> String { "\(name) \(format.name)" }

  /// A folder in memory.
  private static func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = try GuardedFolder(in: "/dev/shm")
    defer { withExtendedLifetime(folder) {} }
    return try body(folder.path)
  }

  private static func explore(_ format: DiskFormat, seed: UInt64, _ plan: Plan, _ tally: Tally) throws {
    let start = ContinuousClock.now
    var (states, refused) = (0, 0)
    try inFolder { folder in
      let recording = try BlockRecording.make(format, seed: seed, in: folder)
      let bench = try BlockBench(recording, in: folder)
      for state in crashes(recording.log, seed) where !plan.isOver {
        switch try bench.judge(state) {
        case .holds: states += 1
        case .unmountable(let why):
          // The file system's own fault, not the engine's; which state it was is said all the same.
          if refused == 0 { CrashCommand.complain("\(row(format)), workload \(seed), state \(state): \(why)") }
          refused += 1
        case .violation(let what):
          states += 1
          let violation = try report(what, state, recording)
          if try repeats(state, recording) {
            tally.violation(violation, in: row(format))
            return
          }
          CrashCommand.tell(violation, "did not repeat: ")
          tally.add(row(format) + unrepeated, states: 1)
        }
      }
    }
    tally.add(row(format), states: states, work: .init(since: start, of: threads(plan)))
    if refused > 0 { tally.add(row(format) + unmountable, states: refused) }
  }

  /// Where the log is cut, and what becomes of the rest, in the order of the log.
  private static func crashes(_ log: DiskLog, _ seed: UInt64) -> [DiskState] {
    var random = SeededRandom(seed: seed)
    let marks = log.entries.indices.filter { if case .mark = log.entries[$0] { true } else { false } }
    return (0..<statesOfRecording).map { _ in
      // Half of them just when somebody was told something: nothing is owed more sharply.
      let anywhere = random.next() % 2 == 0
      let end =
        anywhere ? Int.random(in: 0...log.entries.count, using: &random) : marks.randomElement(using: &random)! + 1
      let fates = [.none, .all] + (0..<6).map { _ in DiskState.Fate.seeded(random.next() % 1_000_000) }
      return DiskState(end: end, fate: fates.randomElement(using: &random)!)
    }.sorted { $0.end < $1.end }
  }

  /// Keeps the recording, with the simplest fate at that place that does not hold.
  private static func report(_ what: String, _ state: DiskState, _ recording: BlockRecording) throws -> Violation {
    let kept = try recording.save()
    var simplest = (state, what)
    for fate in [DiskState.Fate.all, .none] {
      let simpler = DiskState(end: state.end, fate: fate)
      if case .violation(let what) = try verdict(simpler, BlockRecording(kept)) { simplest = (simpler, what) }
    }
    let shown = BlockCase(folder: kept, state: simplest.0)
    return Violation(what: "\(recording.format.name), \(simplest.1)", in: shown)
  }

  /// Whether a state is found wrong on a fresh device as well.
  ///
  /// A state is the same bytes each time. Where the verdict is another, the system has mixed in what it had read of the
  /// state before, which happens while somebody else reads from the loop devices; that is counted in a row of its own.
  private static func repeats(_ state: DiskState, _ recording: BlockRecording) throws -> Bool {
    for _ in 0..<3 {
      if case .violation = try verdict(state, recording) { return true }
    }
    return false
  }

  private static func verdict(_ state: DiskState, _ recording: BlockRecording) throws -> BlockBench.Verdict {
    try inFolder { folder in try BlockBench(recording, in: folder).judge(state) }
  }

  func replay(_ text: String) throws -> Violation? {
    guard let one = BlockCase(text) else { throw Disagreement("t3:FOLDER:STATE is wanted") }
    let recording = try BlockRecording(one.folder)
    if let obstacle = recording.format.obstacle { throw Disagreement(obstacle) }
    guard case .violation(let what) = try BlockTier.verdict(one.state, recording) else { return nil }
    return Violation(what: what, in: one)
  }
}
