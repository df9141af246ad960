import LogStoreTesting

/// Bytes of a page that are no longer what they were.
struct Damage: Sendable, Equatable {
  struct Edit: Sendable, Equatable {
    var file: String
    var offset: Int
    var bytes: [UInt8]
    var range: Range<Int> { offset..<(offset + bytes.count) }
  }

  var edits: [Edit] = []
  /// A file that ends earlier than it did.
  var cut: (file: String, length: Int)?
  /// Whether that file is not there at all: it is cut to nothing, and its name is gone too.
  var isRemoval = false

  /// The file that is gone.
  var removed: String? { isRemoval ? cut?.file : nil }

  static func == (left: Damage, right: Damage) -> Bool {
    left.edits == right.edits && left.cut?.file == right.cut?.file && left.cut?.length == right.cut?.length
      && left.isRemoval == right.isRemoval
  }

  static func flip(_ bit: Int, of file: String, in files: [String: [UInt8]]) -> Damage {
    let byte = files[file]?[bit / 8] ?? 0
    return Damage(edits: [Edit(file: file, offset: bit / 8, bytes: [byte ^ (1 << UInt8(bit % 8))])])
  }

  static func cut(_ file: String, to length: Int) -> Damage { Damage(cut: (file, length)) }

  static func removal(of file: String) -> Damage { Damage(cut: (file, 0), isRemoval: true) }

  /// Where the bytes of a file differ from what they were.
  func changes(in file: String, of whole: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for edit in edits where edit.file == file {
      for place in edit.range where place >= whole.count || edit.bytes[place - edit.offset] != whole[place] {
        if let last = found.last, last.upperBound == place {
          found[found.count - 1] = last.lowerBound..<(place + 1)
        } else {
          found.append(place..<(place + 1))
        }
      }
    }
    if let cut, cut.file == file, cut.length < whole.count { found.append(cut.length..<whole.count) }
    return found.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Whether it leaves every byte as it was.
  func isNothing(for files: [String: [UInt8]]) -> Bool {
    files.allSatisfy { changes(in: $0.key, of: $0.value).isEmpty }
  }

  /// Stands for what it leaves of a page, which has this number.
  func print(_ page: CorpusPage, _ number: Int) -> UInt64 {
    var print = Fingerprint()
    print.add(UInt64(number))
    for (place, name) in page.names.enumerated() {
      for change in changes(in: name, of: page.files[name] ?? []) {
        for word in [place, change.lowerBound, change.upperBound] { print.add(UInt64(word)) }
        for edit in edits where edit.file == name && edit.range.overlaps(change) {
          for byte in change.clamped(to: edit.range) { print.add(UInt64(edit.bytes[byte - edit.offset])) }
        }
        // Bytes that are gone are none.
        print.add(cut?.file == name && change.upperBound == page.files[name]?.count ? isRemoval ? 2 : 1 : 0)
      }
    }
    return print.value
  }

  func apply(to bytes: inout [UInt8], of file: String) {
    for edit in edits where edit.file == file { bytes.replaceSubrange(edit.range, with: edit.bytes) }
    if let cut, cut.file == file { bytes.removeLast(bytes.count - cut.length) }
  }

  func applied(to bytes: [UInt8], of file: String) -> [UInt8] {
    var damaged = bytes
    apply(to: &damaged, of: file)
    return damaged
  }

  func apply(to storage: FrozenStorage) {
    for (name, file) in storage.files { apply(to: &file.bytes, of: name) }
    storage.hidden = removed
  }

  /// The same to a page on a disk.
  func apply(to disk: SimulatedStorage, _ page: CorpusPage) {
    for name in page.names where !changes(in: name, of: page.files[name] ?? []).isEmpty {
      disk.edit(pagePath + "/" + name) { apply(to: &$0, of: name) }
    }
    if let removed { disk.delete(pagePath + "/" + removed) }
  }

  func undo(in storage: FrozenStorage, _ files: [String: [UInt8]]) {
    for edit in edits {
      guard let whole = files[edit.file] else { continue }
      storage.files[edit.file]?.bytes.replaceSubrange(edit.range, with: whole[edit.range])
    }
    if let cut, let whole = files[cut.file] { storage.files[cut.file]?.bytes = whole }
    storage.hidden = nil
  }
}
