import LogStoreTesting

/// One damage, by name: what a line of text says and `crash replay` understands.
struct DamageCase: Sendable, Replayable {
  static var tier: any Tier.Type { FaultTier.self }

  /// A sector that no longer holds what was last written to it.
  enum Sector: String, CaseIterable, Sendable {
    case zeros, ones, noise
    /// It and another one hold each other's bytes.
    case swapped
    /// Its bytes stand in another place, and it never got any.
    case misdirected
    /// Its bytes stand in another place too.
    case copied
    /// Of the bytes in it, only those of its earlier frames ever arrived.
    case stale
    /// It holds what stood at this place in an older file of the same kind, as a block that was given back does.
    case recycled

    var needsAnother: Bool { self == .swapped || self == .misdirected || self == .copied }
  }

  struct Place: Sendable, Equatable {
    var file: String
    var number: Int
  }

  enum Kind: Sendable {
    case flip(file: String, bit: Int)
    case cut(file: String, length: Int)
    case removed(file: String)
    case sector(Sector, size: Int, Place, other: Place?)
  }

  var seed: UInt64
  var page: String
  var kind: Kind

  var description: String {
    switch kind {
    case .flip(let file, let bit): "flips \(seed) \(page) \(file) \(bit)"
    case .cut(let file, let length): "cuts \(seed) \(page) \(file) \(length)"
    case .removed(let file): "removed \(seed) \(page) \(file)"
    case .sector(let sector, let size, let place, let other):
      "sectors \(seed) \(page) \(sector) \(size) \(place.file) \(place.number)"
        + (other.map { " \($0.file) \($0.number)" } ?? "")
    }
  }

  init(seed: UInt64, page: String, kind: Kind) {
    self.seed = seed
    self.page = page
    self.kind = kind
  }

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count >= 4, let seed = UInt64(words[1]) else { return nil }
    (self.seed, page) = (seed, words[2])
    switch (words[0], words.count) {
    case ("flips", 5):
      guard let bit = Int(words[4]) else { return nil }
      kind = .flip(file: words[3], bit: bit)
    case ("cuts", 5):
      guard let length = Int(words[4]) else { return nil }
      kind = .cut(file: words[3], length: length)
    case ("removed", 4): kind = .removed(file: words[3])
    case ("sectors", 7), ("sectors", 9):
      guard let sector = Sector(rawValue: words[3]), let size = Int(words[4]), let number = Int(words[6]) else {
        return nil
      }
      var other: Place?
      if words.count == 9 {
        guard let number = Int(words[8]) else { return nil }
        other = Place(file: words[7], number: number)
      }
      kind = .sector(sector, size: size, Place(file: words[5], number: number), other: other)
    default: return nil
    }
  }

  /// What it does to the page; nil where there is no such place.
  func damage(_ page: CorpusPage) -> Damage? {
    switch kind {
    case .flip(let file, let bit):
      guard let whole = page.files[file], bit / 8 < whole.count else { return nil }
      return .flip(bit, of: file, in: page.files)
    case .cut(let file, let length):
      guard let whole = page.files[file], length < whole.count else { return nil }
      return .cut(file, to: length)
    case .removed(let file): return page.files[file].map { _ in .removal(of: file) }
    case .sector(let sector, let size, let place, let other):
      return SectorDamage(page: page, size: size, seed: seed).damage(sector, place, other)
    }
  }
}

/// Makes damage of whole sectors.
struct SectorDamage {
  let page: CorpusPage
  let size: Int
  let seed: UInt64

  /// All sectors of the page's files.
  var places: [DamageCase.Place] {
    page.names.flatMap { name in
      (0..<(((page.files[name]?.count ?? 0) + size - 1) / size)).map { DamageCase.Place(file: name, number: $0) }
    }
  }

  func damage(_ sector: DamageCase.Sector, _ place: DamageCase.Place, _ other: DamageCase.Place?) -> Damage? {
    guard let old = bytes(place), !old.isEmpty else { return nil }
    switch sector {
    case .zeros: return edit((place, [UInt8](repeating: 0, count: old.count)))
    case .ones: return edit((place, [UInt8](repeating: 0xFF, count: old.count)))
    case .noise:
      var random = SeededRandom(seed: seed ^ UInt64(place.number))
      return edit((place, old.map { _ in UInt8(truncatingIfNeeded: random.next()) }))
    case .swapped:
      guard let other, let others = bytes(other) else { return nil }
      return edit((place, others), (other, old))
    case .misdirected:
      guard let other, bytes(other) != nil else { return nil }
      return edit((place, [UInt8](repeating: 0, count: old.count)), (other, old))
    case .copied:
      guard let other, bytes(other) != nil else { return nil }
      return edit((other, old))
    case .stale:
      guard let kept = earlier(place) else { return nil }
      return edit((place, Array(old[..<kept])))
    case .recycled:
      let suffix = place.file.suffix(9)
      guard let older = page.names.last(where: { $0 < place.file && $0.suffix(9) == suffix }),
        let stood = bytes(DamageCase.Place(file: older, number: place.number))
      else { return nil }
      return edit((place, stood))
    }
  }

  private func bytes(_ place: DamageCase.Place) -> [UInt8]? {
    guard let whole = page.files[place.file], place.number * size < whole.count else { return nil }
    return Array(whole[(place.number * size)..<min(whole.count, (place.number + 1) * size)])
  }

  /// How much of a sector had been written when the frame that now ends it, or goes on behind it, had not.
  private func earlier(_ place: DamageCase.Place) -> Int? {
    guard place.file.hasSuffix(".journal"), let whole = page.files[place.file] else { return nil }
    let sector = (place.number * size)..<min(whole.count, (place.number + 1) * size)
    let ends = FramePlace.all(in: whole).map(\.offset).filter { sector.contains($0) }
    return ends.isEmpty ? nil : ends[ends.count / 2] - sector.lowerBound
  }

  /// Bytes in the place of others: as many as the file has there, zeros behind what there is.
  private func edit(_ edits: (DamageCase.Place, [UInt8])...) -> Damage? {
    var damage = Damage()
    for (place, bytes) in edits {
      guard let old = self.bytes(place) else { return nil }
      let fitting = Array(bytes.prefix(old.count)) + [UInt8](repeating: 0, count: max(0, old.count - bytes.count))
      damage.edits.append(Damage.Edit(file: place.file, offset: place.number * size, bytes: fitting))
    }
    return damage.isNothing(for: page.files) ? nil : damage
  }
}
