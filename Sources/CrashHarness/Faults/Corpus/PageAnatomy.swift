import LogStore

/// What the bytes of a whole page are for, read by the harness itself: which journals the state comes from, and which
/// batch stands where.
struct PageAnatomy {
  /// A batch of operations in a journal of the chain.
  struct Batch {
    var file: String
    var range: Range<Int>
    /// Its place in the page's history.
    var index: Int
  }

  struct Mark {
    var range: Range<Int>
    var durable: Int
    var isClosed: Bool
  }

  /// A journal of the chain.
  struct Journal {
    var name: String
    /// Where the log goes on in the next one; the file's length for the newest.
    var end: Int
    var initialLength: Int
    var marks: [Mark] = []
    /// The place in the history of the first batch that it holds or follows on from.
    var firstIndex: Int
    /// Loss records, as their frames stand.
    var losses: [Range<Int>] = []
    /// All frames of the file, those behind its end too.
    var frames: [FramePlace] = []
  }

  private(set) var journals: [Journal] = []
  private(set) var batches: [Batch] = []
  /// The snapshot that the state starts from.
  private(set) var base: String?
  /// Its parts that opening verifies: header, losses, footer.
  private(set) var baseEnds: [Range<Int>] = []

  /// The files of the chain that the page has without that snapshot; nil where there is none.
  private(set) var kept: Set<String>?

  /// Bytes that an earlier recovery has dropped for good: nobody reads them any more.
  private(set) var dropped: [(file: String, range: Range<Int>)] = []

  var newest: Journal? { journals.last }

  private mutating func noteLosses(in bytes: [UInt8], _ name: String) {
    guard name.hasSuffix(".journal") || name.hasSuffix(".snapshot") else { return }
    for frame in FramePlace.all(in: bytes) where frame.kind == 9 {
      func field(_ place: Int) -> UInt64 { FramePlace.integer(bytes, frame.offset + 9 + place, 8) }
      dropped.append((PageAnatomy.name(field(0)) + ".journal", Int(field(16))..<Int(field(24))))
    }
  }

  /// - Parameters:
  ///   - files: the page's files, undamaged.
  ///   - lsns: the LSN in front of each batch of the history, and behind the last.
  init(_ files: [String: [UInt8]], lsns: [UInt64]) {
    func journal(_ generation: UInt64) -> String { PageAnatomy.name(generation) + ".journal" }
    var next = files.keys.filter { $0.hasSuffix(".journal") }.max()
    var end: Int?
    while let name = next, let bytes = files[name] {
      let generation = FramePlace.integer(bytes, 40, 8)
      let baseLSN = FramePlace.integer(bytes, 56, 8)
      journals.insert(
        Journal(
          name: name, end: end ?? bytes.count, initialLength: Int(FramePlace.integer(bytes, 88, 8)),
          firstIndex: lsns.lastIndex { $0 <= baseLSN } ?? 0), at: 0)
      let snapshot = PageAnatomy.name(generation) + ".snapshot"
      if let own = files[snapshot], FramePlace.integer(own, 64, 8) == FramePlace.integer(bytes, 48, 8) {
        base = snapshot
        break
      }
      let predecessor = FramePlace.integer(bytes, 64, 8)
      guard predecessor != .max else { break }
      end = Int(FramePlace.integer(bytes, 80, 8))
      guard end != 0 else {
        base = PageAnatomy.name(predecessor) + ".snapshot"
        break
      }
      next = journal(predecessor)
    }
    for name in files.keys.sorted() { noteLosses(in: files[name] ?? [], name) }
    for place in journals.indices { read(files[journals[place].name] ?? [], place, lsns) }
    if let base, let bytes = files[base] {
      let places = SnapshotPlaces(bytes)
      baseEnds = [0..<places.records, places.footer..<bytes.count]
      kept = PageAnatomy.chain(without: base, files)
    }
  }

  /// The files that lead on from a snapshot's own journal, back to an older snapshot or to the page's beginning.
  private static func chain(without base: String, _ files: [String: [UInt8]]) -> Set<String>? {
    var found: Set<String> = []
    var journal = String(base.dropLast(8)) + "journal"
    while let bytes = files[journal] {
      found.insert(journal)
      let snapshot = String(journal.dropLast(7)) + "snapshot"
      if snapshot != base, let own = files[snapshot], FramePlace.integer(own, 64, 8) == FramePlace.integer(bytes, 48, 8)
      {
        return found.union([snapshot])
      }
      let predecessor = FramePlace.integer(bytes, 64, 8)
      guard predecessor != .max else { return found }
      guard FramePlace.integer(bytes, 80, 8) != 0 else {
        let snapshot = name(predecessor) + ".snapshot"
        return files[snapshot] == nil ? nil : found.union([snapshot])
      }
      journal = name(predecessor) + ".journal"
    }
    return nil
  }

  private mutating func read(_ bytes: [UInt8], _ place: Int, _ lsns: [UInt64]) {
    let name = journals[place].name
    var lsn = FramePlace.integer(bytes, 56, 8)
    var start: Int?
    var operations: UInt64 = 0
    journals[place].frames = FramePlace.all(in: bytes)
    for frame in journals[place].frames where frame.offset < journals[place].end {
      switch frame.kind {
      case 8:
        journals[place].marks.append(
          Mark(
            range: frame.offset..<frame.end, durable: Int(FramePlace.integer(bytes, frame.offset + 17, 8)),
            isClosed: bytes[frame.offset + 41] & 1 == 1))
        // What an earlier recovery has dropped counts in the LSN, and is no batch of the history.
        lsn = FramePlace.integer(bytes, frame.offset + 9, 8)
      case 9: journals[place].losses.append(frame.offset..<frame.end)
      default:
        if frame.type & 0x40 != 0 {
          start = frame.offset
          operations = 0
        }
        if frame.kind != 6 { operations += 1 }
        guard frame.type & 0x80 != 0, let first = start else { continue }
        if let index = lsns.firstIndex(of: lsn) {
          batches.append(Batch(file: name, range: first..<frame.end, index: index))
        }
        lsn += operations
        start = nil
      }
    }
  }

  static func name(_ generation: UInt64) -> String {
    let digits = String(generation)
    return String(repeating: "0", count: 10 - digits.count) + digits
  }
}
