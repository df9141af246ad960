import LogStore

/// What a child tells its parent through memory that both have: each write that is begun, and what came of it.
///
/// A word is stored before the write that it announces is begun, and after the acknowledgement that it passes on has
/// come: so a write without a fate may be on the page or not, and one that was not begun is not.
final class KillChannel: Sendable {
  static let writers = 6
  /// Writes that a child makes at most, for each writer.
  static let capacity = 512

  enum Fate: Equatable {
    case open
    /// The engine said that nothing was written.
    case refused
    case acknowledged(Position)
  }

  /// What a child was about when it was killed.
  enum Phase: UInt64, CaseIterable {
    case starting, opening, writing, compacting, suspending, resuming, closing
  }

  private static let textWords = 126
  private static let stride = 1 + 3 * capacity
  private let words: SharedWords
  let path: String

  init(_ path: String) throws(SystemFault) {
    self.path = path
    words = try SharedWords(path, count: 2 + Self.textWords + Self.writers * Self.stride)
  }

  private func place(_ writer: Int) -> Int { 2 + Self.textWords + writer * Self.stride }
  private func place(_ writer: Int, _ index: Int) -> Int { place(writer) + 1 + 3 * index }

  var phase: Phase {
    get { Phase(rawValue: words[0]) ?? .starting }
    set { words[0] = newValue.rawValue }
  }

  // MARK: The child

  func begin(_ writer: Int, _ index: Int) { words[place(writer)] = UInt64(index + 1) }

  func refuse(_ writer: Int, _ index: Int) { words[place(writer, index)] = 1 }

  func acknowledge(_ writer: Int, _ index: Int, _ position: Position) {
    let place = place(writer, index)
    words[place + 1] = position.salt
    words[place + 2] = position.lsn
    words[place] = 2
  }

  /// Something that must not happen in a child.
  func complain(_ text: String) {
    let bytes = Array(text.utf8.prefix(Self.textWords * 8))
    for (place, byte) in bytes.enumerated() { words[2 + place / 8] |= UInt64(byte) << UInt64(place % 8 * 8) }
    words[1] = UInt64(bytes.count)
  }

  // MARK: The parent

  func clear() {
    for writer in 0..<Self.writers {
      for index in 0..<begun(writer) { words[place(writer, index)] = 0 }
      words[place(writer)] = 0
    }
    for place in 0..<(2 + Self.textWords) { words[place] = 0 }
  }

  func begun(_ writer: Int) -> Int { Int(min(words[place(writer)], UInt64(Self.capacity))) }

  func fate(_ writer: Int, _ index: Int) -> Fate {
    let place = place(writer, index)
    return switch words[place] {
    case 0: .open
    case 1: .refused
    default: .acknowledged(Position(salt: words[place + 1], lsn: words[place + 2]))
    }
  }

  var complaint: String? {
    let count = Int(words[1])
    guard count > 0 else { return nil }
    return String(
      decoding: (0..<count).map { UInt8(truncatingIfNeeded: words[2 + $0 / 8] >> UInt64($0 % 8 * 8)) }, as: UTF8.self)
  }

  /// What was begun on a page by the writers whose page it is, and not refused.
  func issued(seed: UInt64, page: Int, of pages: Int) -> [IssuedBatch] {
    (0..<Self.writers).filter { $0 % pages == page }.flatMap { writer -> [IssuedBatch] in
      let script = WriterScript(seed: seed, writer: writer)
      return (0..<begun(writer)).compactMap { index -> IssuedBatch? in
        let position: Position?
        switch fate(writer, index) {
        case .refused: return nil
        case .open: position = nil
        case .acknowledged(let given): position = given
        }
        return IssuedBatch(operations: script.act(index).operations, writer: writer, position: position)
      }
    }
  }
}
