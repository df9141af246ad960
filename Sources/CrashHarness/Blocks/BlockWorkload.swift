import CPlatform
import Glibc
import LogStore
import LogStoreTesting

/// What is done to the pages of a file system while its disk is recorded; what was promised is marked on the disk's log.
struct BlockWorkload {
  /// What a mark says of a page, in two bytes.
  enum Event: UInt8 {
    /// The next batch of the script is being written.
    case begin = 1
    case handedOver
    case durable
    /// All that was written is durable.
    case synced
    /// The page was opened, shows all that was written, and has made it durable.
    case opened
  }

  let seed: UInt64
  static let pages = 2

  private func script(_ page: Int) -> Script { Script(seed: seed ^ UInt64(page + 1) << 40, steps: 24) }

  /// - Parameters:
  ///   - folder: where the pages are made.
  ///   - mark: writes to the disk's log.
  func run(in folder: String, mark: @escaping ([UInt8]) throws -> Void) throws {
    var runs = try (0..<BlockWorkload.pages).map { number in
      try PageRun(path: "\(folder)/page\(number)") { event in try mark([UInt8(number), event.rawValue]) }
    }
    var steps = (0..<BlockWorkload.pages).map { script($0).steps[...] }
    var random = SeededRandom(seed: seed)
    while let next = steps.indices.filter({ !steps[$0].isEmpty }).randomElement(using: &random) {
      try runs[next].run(steps[next].removeFirst())
      // Now and then the system writes back by itself, all or what it likes.
      if random.next() % 10 == 0 { PageRun.writeBack(folder) }
    }
  }

  /// What each page's user knew once these marks had been made.
  func ledgers(_ marks: [[UInt8]]) throws -> [Ledger] {
    var ledgers = [Ledger](repeating: Ledger(), count: BlockWorkload.pages)
    var batches = ledgers.indices.map { page in
      script(page).steps.compactMap { if case .write(let batch, _) = $0 { batch } else { nil } }[...]
    }
    for mark in marks {
      guard mark.count == 2, let event = Event(rawValue: mark[1]), ledgers.indices.contains(Int(mark[0])) else {
        throw Disagreement("no mark: \(mark)")
      }
      let page = Int(mark[0])
      switch event {
      case .begin:
        guard let batch = batches[page].popFirst() else { throw Disagreement("more marks than writes") }
        ledgers[page].begin(batch)
      case .handedOver: ledgers[page].acknowledge(.process)
      case .durable: ledgers[page].acknowledge(.power)
      case .synced: ledgers[page].acknowledgeSync()
      case .opened: ledgers[page].settle(ledgers[page].present, lsn: ledgers[page].presentLSN)
      }
    }
    return ledgers
  }
}

/// One page of it.
private struct PageRun {
  let path: String
  let tell: (BlockWorkload.Event) throws -> Void
  private var page: Page?

  init(path: String, tell: @escaping (BlockWorkload.Event) throws -> Void) throws {
    self.path = path
    self.tell = tell
    try open()
  }

  private mutating func open() throws {
    var options = PageOptions()
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    page = nil
    page = try Page(path: path, options: options)
    try tell(.opened)
  }

  mutating func run(_ step: Script.Step) throws {
    switch step {
    case .reopen:
      try page?.close()
      try tell(.synced)
      try open()
    // Let go, as when the process is killed.
    case .kill: try open()
    default: if let page { try run(step, on: page) }
    }
  }

  private func run(_ step: Script.Step, on page: Page) throws {
    switch step {
    case .write(let operations, let durability):
      try tell(.begin)
      try page.write(WriteBatch(operations), durability: durability)
      try tell(durability == .process ? .handedOver : .durable)
    case .sync:
      try page.sync()
      try tell(.synced)
    case .compact(let keep):
      try page.compact(keep: keep)
      try tell(.synced)
    case .suspend:
      try page.suspend()
      try tell(.synced)
    case .resume:
      try page.resume()
      try tell(.opened)
    case .close, .recover, .reopen, .kill: break
    case .wait: PageRun.writeBack(path)
    case .view: _ = try page.table()
    }
  }

  /// What a system does by itself after some seconds: it writes what it has of a file system.
  static func writeBack(_ path: String) {
    let file = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = logstore_sync_file_system(file)
    Glibc.close(file)
  }
}
