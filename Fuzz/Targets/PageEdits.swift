/// A page of the corpus, and what bytes do to it.
///
/// Two bytes choose the page; then edits follow, each a byte that says what is done (its low four bits) and a byte that says
/// to which file, by its place in the order of names.
struct EditedPage {
  private(set) var files: PageCorpus.Files
  /// Whether checksums were made to fit, or bytes of other pages, which share salts as only test pages do, were brought in:
  /// then checksums prove nothing.
  private(set) var isForged = false
  private let corpus: PageCorpus
  private var input: InputBytes

  private static let mostBytes = 16 << 10
  private static let mostFiles = 12

  init(_ bytes: [UInt8], from corpus: PageCorpus) {
    self.corpus = corpus
    input = InputBytes(bytes)
    files = corpus.page(UInt16(input.number(bytes: 2)))
    var edits = 0
    while !input.isEmpty, edits < 64 {
      edit()
      edits += 1
    }
  }

  private mutating func edit() {
    let choice = input.byte()
    let names = files.keys.sorted()
    let chosen = Int(input.byte())
    guard !names.isEmpty else { return addFile() }
    let name = names[chosen % names.count]
    switch choice & 15 {
    case 0:
      change(name) { file, input in
        let place = EditedPage.place(&input, file.count)
        file[place] ^= 1 << (input.byte() & 7)
      }
    case 1:
      change(name) { file, input in
        let place = EditedPage.place(&input, file.count)
        file[place] = input.byte()
      }
    case 2: change(name) { file, input in file.removeSubrange(EditedPage.place(&input, file.count)...) }
    case 3:
      change(name) { file, input in
        let count = Int(input.byte())
        file += repeatElement(input.byte(), count: count)
      }
    case 4:
      change(name) { file, input in
        let (one, other) = (EditedPage.piece(&input, file.count), EditedPage.piece(&input, file.count))
        let count = min(one.count, other.count)
        for step in 0..<count { file.swapAt(one.lowerBound + step, other.lowerBound + step) }
      }
    case 5:
      change(name) { file, input in
        let piece = EditedPage.piece(&input, file.count)
        let byte: UInt8 = input.byte() & 1 == 0 ? 0 : 0xFF
        file.replaceSubrange(piece, with: repeatElement(byte, count: piece.count))
      }
    case 6: place(files[name] ?? nil, at: fileName())
    case 7:
      let file = files.removeValue(forKey: name)
      place(file ?? nil, at: fileName())
    case 8: files[name] = nil
    case 9: splice(into: name, from: corpus.page(UInt16(input.number(bytes: 2))), isForeign: true)
    case 10: splice(into: name, from: files, isForeign: false)
    case 11: change(name) { file, input in file.removeSubrange(EditedPage.piece(&input, file.count)) }
    case 12: addFile()
    case 13: files[fileName()] = .some(nil)
    case 14:
      isForged = true
      let isSnapshot = name.hasSuffix(".snapshot")
      change(name) { file, _ in file = Resealing.reseal(file, isSnapshot: isSnapshot) }
    default:
      change(name) { file, input in
        // A field of a header, or any number: a few that are small, or at an edge.
        let place = EditedPage.place(&input, file.count)
        let value = input.byte()
        let number: UInt64 = value < 0xF0 ? UInt64(value) : UInt64.max >> UInt64((value & 0x0F) * 4)
        for step in 0..<min(8, file.count - place) {
          file[place + step] = UInt8(truncatingIfNeeded: number >> UInt64(8 * step))
        }
      }
    }
  }

  private mutating func change(_ name: String, _ body: (inout [UInt8], inout InputBytes) -> Void) {
    guard var file = files[name] ?? nil, !file.isEmpty else { return }
    body(&file, &input)
    place(file, at: name)
  }

  private mutating func place(_ file: [UInt8]?, at name: String) {
    guard files[name] != nil || files.count < EditedPage.mostFiles else { return }
    files[name] = .some(file.map { Array($0.prefix(EditedPage.mostBytes)) })
  }

  private mutating func splice(into name: String, from page: PageCorpus.Files, isForeign: Bool) {
    let names = page.keys.sorted()
    guard !names.isEmpty else { return }
    guard let source = page[names[Int(input.byte()) % names.count]] ?? nil, !source.isEmpty else { return }
    isForged = isForged || isForeign
    change(name) { file, input in
      let piece = EditedPage.piece(&input, source.count)
      let place = EditedPage.place(&input, file.count)
      let replaced = input.byte() & 1 == 0 ? place..<min(place + piece.count, file.count) : place..<place
      file.replaceSubrange(replaced, with: source[piece])
    }
  }

  private mutating func addFile() {
    let page = corpus.page(UInt16(input.number(bytes: 2)))
    let names = page.keys.sorted()
    guard !names.isEmpty else { return }
    isForged = true
    let name = names[Int(input.byte()) % names.count]
    place(page[name] ?? nil, at: input.byte() & 1 == 0 ? name : fileName())
  }

  /// The low four bits are the generation, or thereabouts; the others what kind of file.
  private mutating func fileName() -> String {
    let byte = input.byte()
    let generation = String(byte & 0x0F)
    let number = String(repeating: "0", count: 10 - generation.count) + generation
    return switch byte >> 4 {
    case 0...5: number + ".journal"
    case 6...10: number + ".snapshot"
    case 11: number + ".journal.tmp"
    case 12: number + ".snapshot.tmp"
    case 13: number + ".0000000000000080.quarantine"
    case 14: number + ".0000000000000080.quarantine.tmp"
    default: number + " (conflict 2).journal"
    }
  }

  private static func place(_ input: inout InputBytes, _ count: Int) -> Int {
    count == 0 ? 0 : Int(input.number(bytes: 2)) % count
  }

  private static func piece(_ input: inout InputBytes, _ count: Int) -> Range<Int> {
    let start = place(&input, count)
    let length = Int(input.byte())
    // 0xFF: to the end, so that whole files and tails are moved, too.
    return start..<(length == 0xFF ? count : min(count, start + length))
  }
}
