/// The names in a page's directory, sorted by what they stand for.
struct PageListing: Sendable, Equatable {
  var journals: [UInt64] = []
  var snapshots: [UInt64] = []
  var temporaries: [String] = []
  var quarantines: [String] = []
  var strangers: [String] = []

  init(_ names: [String]) {
    for name in names.sorted() {
      switch PageName(name) {
      case .file(.journal(let generation)): journals.append(generation)
      case .file(.snapshot(let generation)): snapshots.append(generation)
      case .file(.quarantine): quarantines.append(name)
      case .temporary: temporaries.append(name)
      case nil: strangers.append(name)
      }
    }
  }

  /// The generations of journals and snapshots, each once, from the highest down.
  var descending: [UInt64] {
    var result: [UInt64] = []
    result.reserveCapacity(journals.count + snapshots.count)
    var (journal, snapshot) = (journals.count - 1, snapshots.count - 1)
    while journal >= 0 || snapshot >= 0 {
      let next = max(journal >= 0 ? journals[journal] : 0, snapshot >= 0 ? snapshots[snapshot] : 0)
      result.append(next)
      if journal >= 0, journals[journal] == next { journal -= 1 }
      if snapshot >= 0, snapshots[snapshot] == next { snapshot -= 1 }
    }
    return result
  }

  /// The greatest generation that a file of the page has; nil where there is none.
  var highest: UInt64? { [journals.last, snapshots.last].compactMap { $0 }.max() }

  /// What the next journal is called: one more than the highest number present.
  func nextGeneration(in path: String) throws(LogStoreError) -> UInt64 {
    guard let highest else { return 0 }
    guard highest < 9_999_999_999 else {
      let stray = (journals.last == highest ? PageFile.journal(highest) : PageFile.snapshot(highest)).name
      throw LogStoreError(
        .tooLarge,
        "no generation number is left behind that of \(stray); where `logctl verify PAGE` says that the file is not the "
          + "page's, move it out of the directory, otherwise copy the records into a new page", path: path)
    }
    return highest + 1
  }

  /// Whether this is what a page that was never finished leaves behind, or nothing at all.
  var isEmptyPage: Bool {
    journals.isEmpty && snapshots.isEmpty && quarantines.isEmpty
      && temporaries.allSatisfy { $0 == PageFile.journal(0).temporaryName }
  }
}

/// A file of a page, by what it holds.
enum PageFile: Hashable, Sendable {
  case journal(UInt64)
  case snapshot(UInt64)
  case quarantine(UInt64, offset: UInt64)

  static let digits = 10

  var generation: UInt64 {
    switch self {
    case .journal(let generation), .snapshot(let generation), .quarantine(let generation, _): generation
    }
  }

  /// The name of the finished file.
  var name: String {
    switch self {
    case .journal(let generation): PageFile.number(generation) + ".journal"
    case .snapshot(let generation): PageFile.number(generation) + ".snapshot"
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

/// What a name in a page's directory says; none is made of a name that is not the page's.
enum PageName: Hashable, Sendable {
  case file(PageFile)
  /// What is written before it has its own name.
  case temporary

  init?(_ name: String) {
    // By bytes: splitting and comparing strings would cost more than opening the files.
    let bytes = Array(name.utf8)
    guard bytes.count > PageFile.digits + 1, bytes[PageFile.digits] == PageName.dot,
      let generation = PageName.number(bytes[..<PageFile.digits], radix: 10)
    else { return nil }
    let rest = bytes[(PageFile.digits + 1)...]
    switch String(decoding: rest, as: UTF8.self) {
    case "journal": self = .file(.journal(generation))
    case "snapshot": self = .file(.snapshot(generation))
    case "journal.tmp", "snapshot.tmp", "snapshot.tables.tmp": self = .temporary
    default:
      guard let dot = rest.firstIndex(of: PageName.dot), rest[..<dot].count == 16,
        let offset = PageName.number(rest[..<dot], radix: 16)
      else { return nil }
      switch String(decoding: rest[(dot + 1)...], as: UTF8.self) {
      case "quarantine.tmp": self = .temporary
      case "quarantine": self = .file(.quarantine(generation, offset: offset))
      default: return nil
      }
    }
  }

  private static let dot: UInt8 = 0x2E

  /// The number that all of `digits` spell, in lower case; too few to overflow.
  private static func number(_ digits: ArraySlice<UInt8>, radix: UInt64) -> UInt64? {
    var number: UInt64 = 0
    for byte in digits {
      let digit: UInt64
      switch byte {
      case 0x30...0x39: digit = UInt64(byte - 0x30)
      case 0x61...0x66: digit = UInt64(byte - 0x61) + 10
      default: return nil
      }
      guard digit < radix else { return nil }
      number = number * radix + digit
    }
    return number
  }
}
