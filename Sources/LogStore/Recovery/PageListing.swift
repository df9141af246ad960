/// The names in a page's directory, sorted by what they stand for.
struct PageListing: Sendable, Equatable {
  var journals: [UInt64] = []
  var snapshots: [UInt64] = []
  var temporaries: [String] = []
  var quarantines: [String] = []
  var strangers: [String] = []

  init(_ names: [String]) {
    for name in names.sorted() {
      switch PageFile(name) {
      case .journal(let generation): journals.append(generation)
      case .snapshot(let generation): snapshots.append(generation)
      case .temporary: temporaries.append(name)
      case .quarantine: quarantines.append(name)
      case nil: strangers.append(name)
      }
    }
  }

  /// The greatest generation that a file of the page has; nil where there is none.
  var highest: UInt64? { [journals.last, snapshots.last].compactMap { $0 }.max() }

  /// Whether this is what a page that was never finished leaves behind, or nothing at all.
  var isEmptyPage: Bool {
    journals.isEmpty && snapshots.isEmpty && quarantines.isEmpty
      && temporaries.allSatisfy { $0 == PageFile.journal(0).temporaryName }
  }
}

/// A file of a page, by its name.
enum PageFile: Hashable, Sendable {
  case journal(UInt64)
  case snapshot(UInt64)
  case temporary(UInt64)
  case quarantine(UInt64, offset: UInt64)

  static let digits = 10

  init?(_ name: String) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = parts.first, first.utf8.count == PageFile.digits,
      first.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let generation = UInt64(first)
    else { return nil }
    switch parts.dropFirst().joined(separator: ".") {
    case "journal": self = .journal(generation)
    case "snapshot": self = .snapshot(generation)
    case "journal.tmp", "snapshot.tmp", "snapshot.tables.tmp": self = .temporary(generation)
    default:
      if parts.count == 4, parts[2] == "quarantine", parts[3] == "tmp" {
        self = .temporary(generation)
        return
      }
      guard parts.count == 3, parts[2] == "quarantine", parts[1].utf8.count == 16,
        let offset = UInt64(parts[1], radix: 16), parts[1] == parts[1].lowercased()
      else { return nil }
      self = .quarantine(generation, offset: offset)
    }
  }

  /// The name of the finished file.
  var name: String {
    switch self {
    case .journal(let generation): PageFile.number(generation) + ".journal"
    case .snapshot(let generation): PageFile.number(generation) + ".snapshot"
    case .temporary(let generation): PageFile.number(generation) + ".journal.tmp"
    case .quarantine(let generation, let offset):
      PageFile.number(generation) + "." + PageFile.padded(String(offset, radix: 16), 16) + ".quarantine"
    }
  }

  /// The name under which it is written first.
  var temporaryName: String { name + ".tmp" }

  private static func number(_ generation: UInt64) -> String { padded(String(generation), digits) }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
