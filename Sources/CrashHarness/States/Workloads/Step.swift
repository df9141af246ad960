import LogStore

/// One thing that is done to a page.
enum Step: Equatable {
  case write([TableOperation], Durability)
  case sync
  case compact(Retention)
  case suspend
  case resume
  case close
  /// Close the page, and the sync of the close mark fails: with a cache that shows the mark or does not. Nobody but the
  /// process that ends so is told of it.
  case failedClose(showsOld: Bool)
  /// Close the page and open it again.
  case reopen
  /// The process is killed, and the next one opens the page: what it writes goes to a journal of its own.
  case kill
  /// The disk is full at the next write, of which only so many bytes fit; then there is room again, and the journal's life
  /// is over.
  case full(fits: Int, [TableOperation])
  /// A sync fails, with a cache that keeps the new bytes or shows the old ones; then the page recovers into a new journal.
  case failedSync(showsOld: Bool, [TableOperation])
  /// Seconds that go by.
  case wait(Int)

  /// What the step writes.
  var operations: [TableOperation] {
    switch self {
    case .write(let operations, _), .full(_, let operations), .failedSync(_, let operations): operations
    default: []
    }
  }

  /// The same step with other operations.
  func writing(_ operations: [TableOperation]) -> Step {
    switch self {
    case .write(_, let durability): .write(operations, durability)
    case .full(let fits, _): .full(fits: fits, operations)
    case .failedSync(let showsOld, _): .failedSync(showsOld: showsOld, operations)
    default: self
    }
  }
}
