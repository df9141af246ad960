import LogStore

/// Steps on one or more pages of one directory tree, in the order in which they are done.
struct Workload: Equatable {
  /// What a page holds before the first step; all of it is durable.
  enum Base: String, CaseIterable {
    /// There is no page: opening it creates it.
    case absent
    /// A snapshot with its journal, closed.
    case compacted
    /// A journal whose writer was killed.
    case unclosed
  }

  enum Kind: String {
    /// Tables of records.
    case records
    /// An application's own state.
    case state
  }

  struct Placed: Equatable {
    var page: Int
    var step: Step

    init(_ page: Int = 0, _ step: Step) {
      self.page = page
      self.step = step
    }
  }

  var base = Base.absent
  var kind = Kind.records
  var pages = 1
  var steps: [Placed]
  /// The salts and identities that the disk hands out.
  var seed: UInt64 = 1

  /// Where a page lies.
  static func path(_ page: Int) -> String { page == 0 ? pagePath : pagePath + "\(page)" }
}
