import Glibc
import LogStore
import LogStoreTesting
import Synchronization

/// Tier 2: many writers, readers and the compactor in a child of this program, killed at a random time.
///
/// A kill leaves the system's cache, so every acknowledged write must be there, at whatever level. When a process dies
/// cannot be repeated: a violation keeps what the kill has left, and that is what is judged again.
struct KillTier: Tier {
  static let name = "t2"
  static let summary = "many writers and the compactor in a child, killed at random times"
  static let share = 0.83

  private static let killsOfSeries = 20
  private static let killsInCI = 5000
  static let ended = ", ended before"

  func run(_ plan: Plan, _ tally: Tally) throws {
    let next = Atomic<Int>(0)
    let faults = Mutex<[any Error]>([])
    let phases = Mutex<[KillChannel.Phase: Int]>([:])
    let (series, seed) = (KillTier.killsInCI / KillTier.killsOfSeries, plan.seed)
    let memory = try GuardedFolder(in: "/dev/shm")
    let disk = try GuardedFolder(in: "/tmp")
    let (inMemory, onDisk) = (memory.path, disk.path)
    SystemThread.run(plan.workers) { _ in
      while faults.withLock({ $0.isEmpty }), !plan.isOver {
        let number = next.add(1, ordering: .relaxed).oldValue
        if plan.isCI, number >= series { return }
        var random = SeededRandom(seed: seed ^ UInt64(number) << 20)
        do {
          // Memory is quick; a disk's file system takes its own paths, and its time.
          let (row, folder) =
            number % 16 == 15 ? ("\(KillTier.name) disk", onDisk) : ("\(KillTier.name) memory", inMemory)
          let seen = try KillTier.runSeries(random.next(), in: folder, row, plan, tally)
          phases.withLock { $0.merge(seen, uniquingKeysWith: +) }
        } catch {
          faults.withLock { $0.append(error) }
        }
      }
    }
    withExtendedLifetime((memory, disk)) {}
    if let fault = faults.withLock({ $0.first }) { throw fault }
    let seen = phases.withLock { $0 }
    let parts = KillChannel.Phase.allCases.map { "\($0) \(Table.grouped(seen[$0] ?? 0))" }
    CrashCommand.say("killed while " + parts.joined(separator: ", "))
  }

  private static func runSeries(
    _ seed: UInt64, in folder: String, _ row: String, _ plan: Plan, _ tally: Tally
  ) throws -> [KillChannel.Phase: Int] {
    let start = ContinuousClock.now
    var series = try KillSeries(seed: seed, in: folder)
    while series.kills < killsOfSeries, !plan.isOver {
      if let violation = try series.kill() {
        tally.violation(violation, in: row)
        break
      }
      guard series.children < 10 * killsOfSeries else {
        let what = "of \(series.children) children of series \(seed) only \(series.kills) lived to be killed"
        tally.violation(Violation(what: what), in: row)
        break
      }
    }
    tally.add(row, states: series.kills, work: .init(since: start, of: plan.workers))
    if series.kills < series.children { tally.add(row + ended, states: series.children - series.kills) }
    return series.phases
  }

  func replay(_ text: String) throws -> Violation? {
    try KillCase.objection(text).map { Violation(what: $0, in: KeptKill(text)) }
  }
}
