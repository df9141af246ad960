import Dispatch
import Glibc
import LogStore
import LogStoreTesting
import Synchronization

/// The child that is killed: writers, a compactor and readers on the pages of a folder, in sessions, one after another.
struct KilledChild: Sendable {
  static let mode = "killed-child"

  private let folder: String
  private let seed: UInt64
  private let pages: Int
  private let channel: KillChannel

  static func arguments(folder: String, channel: String, seed: UInt64, pages: Int) -> [String] {
    [mode, folder, channel, "\(seed)", "\(pages)"]
  }

  /// - Returns: the exit code: 0 when it has done all that it could, 3 where something went wrong.
  static func run(_ arguments: [String]) -> Int32 {
    // A channel that cannot be opened counts as usage: the parent reports every code but 0.
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let pages = Int(arguments[3]),
      let channel = try? KillChannel(arguments[1])
    else { return 64 }
    KilledChild(folder: arguments[0], seed: seed, pages: pages, channel: channel).live()
    return 0
  }

  private func live() {
    var random = SeededRandom(seed: seed)
    var done = [Int](repeating: 0, count: KillChannel.writers)
    while done.contains(where: { $0 < KillChannel.capacity }) {
      let quota = [3, 20, 100, 512].randomElement(using: &random)!
      let until = done.map { min($0 + quota, KillChannel.capacity) }
      attempt("a session") { try session(done, until, &random) }
      done = until
    }
  }

  private func session(_ from: [Int], _ until: [Int], _ random: inout SeededRandom) throws {
    channel.phase = .opening
    let options = KilledChild.options(&random)
    let pages = try (0..<pages).map { try Page(path: "\(folder)/page\($0)", options: options) }
    channel.phase = .writing
    let left = Countdown(KillChannel.writers)
    var threads = (0..<KillChannel.writers).map { writer in
      let page = pages[writer % pages.count]
      let acts = from[writer]..<until[writer]
      return SystemThread {
        ChildWriter(channel: channel, seed: seed, writer: writer).write(acts, on: page)
        left.one()
      }
    }
    if random.next() % 2 == 0 { threads.append(SystemThread { read(until: left) }) }
    try direct(pages, until: left, &random)
    for thread in threads { thread.join() }
    channel.phase = .closing
    for page in pages { try page.close() }
  }

  private static func options(_ random: inout SeededRandom) -> PageOptions {
    var options = PageOptions()
    options.compaction.isAutomatic = random.next() % 2 == 0
    options.compaction.minimumBytes = 32 << 10
    options.compaction.atClose = random.next() % 3 == 0
    options.compression = random.next() % 4 == 0 ? .deflate : .none
    options.retention = [.none, .previous, .count(2)].randomElement(using: &random)!
    options.syncAfter = .milliseconds(random.next() % 2 == 0 ? 1 : 1000)
    options.syncAfterBytes = random.next() % 2 == 0 ? 4096 : 1 << 20
    return options
  }

  /// Compacts, suspends, resumes, syncs and looks, in turns that the seed decides.
  private func direct(_ pages: [Page], until left: Countdown, _ random: inout SeededRandom) throws {
    while !left.isOver {
      let page = pages.randomElement(using: &random)!
      let keep: Retention? = [nil, Retention.none, .previous, .count(2)].randomElement(using: &random)!
      switch random.next() % 12 {
      case 0, 1:
        channel.phase = .compacting
        try tolerating([.busy]) { () throws(LogStoreError) in _ = try page.compact(keep: keep) }
      case 2:
        channel.phase = .compacting
        try tolerating([.busy]) { () throws(LogStoreError) in
          try blocking { () async throws(LogStoreError) in _ = try await page.compact(keep: keep) }
        }
      case 3, 4:
        channel.phase = .suspending
        try page.suspend()
        usleep(UInt32(random.next() % 300))
        channel.phase = .resuming
        try page.resume()
      case 5: try page.sync()
      case 6: _ = try page.table()
      default: usleep(UInt32(random.next() % 500))
      }
      channel.phase = .writing
    }
  }

  /// Reads the first page as another process would: what it shows never goes back.
  private func read(until left: Countdown) {
    attempt("a reader") {
      while !left.isOver {
        let page = try Page(path: "\(folder)/page0", mode: .readOnly)
        var last: UInt64 = 0
        for _ in 0..<4 where !left.isOver {
          let view = try page.view()
          guard try view.records().count == view.count else { throw Disagreement("a reader's count") }
          guard page.position.lsn >= last else { throw Disagreement("a reader went back from LSN \(last)") }
          last = page.position.lsn
          usleep(200)
          try page.refresh()
        }
        try page.close()
      }
    }
  }

  private func tolerating(_ codes: Set<LogStoreError.Code>, _ body: () throws(LogStoreError) -> Void) throws {
    do throws(LogStoreError) {
      try body()
    } catch {
      if !codes.contains(error.code) { throw error }
    }
  }

  /// What fails here must not: it is told, and ends the child.
  private func attempt(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      channel.complain("\(what): \(error)")
      _exit(3)
    }
  }
}
