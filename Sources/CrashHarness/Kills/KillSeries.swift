import Glibc
import LogStore
import LogStoreTesting

/// One folder of pages on which one child after another is killed.
struct KillSeries {
  private let seed: UInt64
  private let folder: TemporaryFolder
  private let channel: KillChannel
  private var pages: [KilledPage]
  private var random: SeededRandom
  /// Positions that were given to somebody. A crash may reuse an LSN, never a position.
  private var positions: [Set<Position>]
  private(set) var children = 0
  /// How many of them were killed; the others had ended before.
  private(set) var kills = 0
  /// What those were about that were killed.
  private(set) var phases: [KillChannel.Phase: Int] = [:]

  /// - Parameter parent: where the folder is to be: which file system is used.
  init(seed: UInt64, in parent: String) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    let folder = TemporaryFolder(in: parent)
    self.folder = folder
    channel = try KillChannel(folder.path + "/channel")
    pages = (0..<(random.next() % 3 == 0 ? 2 : 1)).map { KilledPage("\(folder.path)/page\($0)") }
    positions = pages.map { _ in [] }
  }

  /// Starts a child, kills it, unless it has ended before, and checks what it has left.
  ///
  /// - Parameter chosen: when to kill it; otherwise the seed decides.
  mutating func kill(at chosen: KillMoment? = nil) throws -> Violation? {
    channel.clear()
    let childSeed = random.next()
    let drawn = KillMoment(&random)
    let moment = chosen ?? drawn
    let child = try ChildProcess(
      KilledChild.arguments(folder: folder.path, channel: channel.path, seed: childSeed, pages: pages.count))
    let outcome = moment.strike(child, channel)
    children += 1
    if case .killed = outcome {
      kills += 1
      phases[channel.phase, default: 0] += 1
    }
    let left = KillCase(childSeed: childSeed, pages: pages)
    if let objection = objection(to: outcome) { return try violation(objection, left) }
    for place in pages.indices {
      let issued = channel.issued(seed: childSeed, page: place, of: pages.count)
      let (closes, verifies) = (random.next() % 2 == 0, random.next() % 8 == 0)
      let objection =
        pages[place].objection(issued, closes: closes, verifies: verifies) ?? repeated(issued, on: place)
      if let objection { return try violation("page \(place): \(objection)", left) }
    }
    return nil
  }

  private func objection(to outcome: KillMoment.Outcome) -> String? {
    if let complaint = channel.complaint { return "in the child: \(complaint)" }
    switch outcome {
    case .killed, .ended(.exited(0)): return nil
    case .ended(let ending): return "the child ended by itself: \(ending)"
    case .hung: return "the child hangs while \(channel.phase)"
    }
  }

  private mutating func repeated(_ issued: [IssuedBatch], on page: Int) -> String? {
    for position in issued.compactMap(\.position) where !positions[page].insert(position).inserted {
      return "position \(position) was given twice"
    }
    return nil
  }

  private func violation(_ what: String, _ left: KillCase) throws -> Violation {
    let path = try left.save(seed: seed, child: children, channel: channel.path)
    return Violation(what: "\(what) (series \(seed), child \(children))", in: KeptKill(path))
  }
}
