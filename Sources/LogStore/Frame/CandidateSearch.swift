/// Finds frames behind the faults of a file by their checksums alone, in time proportional to the bytes searched.
///
/// It keeps the stretch of the file that it looked through last, with all it knows of checksums there: so a file full of
/// faults, each searched from anew, costs what one search through it does.
final class CandidateSearch {
  private let file: any StorageFile
  private let seed: UInt32
  private let limit: UInt64
  private let candidates: Int
  private var stretch: CandidateStretch?
  /// Whom to tell how far a search has come.
  var progress: ReadingProgress?

  /// Nothing behind `limit` counts. `candidates` is how many there are in a stretch; only tests lower it.
  init(_ file: any StorageFile, seed: UInt32, limit: UInt64, candidates: Int = 4 << 20) {
    self.file = file
    self.seed = seed
    self.limit = limit
    self.candidates = candidates
  }

  /// The first place from `offset` on at which the checksum of a frame matches that ends at or in front of `end`, which is
  /// at most the limit.
  func first(from offset: UInt64, upTo end: UInt64) throws(LogStoreError) -> UInt64? {
    var from = offset
    while from + UInt64(Limits.frameOverhead) <= end {
      try progress?.come(to: from)
      let stretch = stretch(from: from)
      if let found = try stretch.first(from: from, upTo: end) {
        try progress?.come(to: found)
        return found
      }
      from = stretch.end
    }
    try progress?.come(to: min(from, max(offset, end)))
    return nil
  }

  /// Whether what earlier searches know says, for less than reading a long frame costs, that none verifies at `offset`.
  func refutes(_ offset: UInt64) throws(LogStoreError) -> Bool { try stretch?.refutes(offset) ?? false }

  private func stretch(from offset: UInt64) -> CandidateStretch {
    if let stretch, stretch.contains(offset) { return stretch }
    // The memory of the last one first.
    stretch = nil
    let next = CandidateStretch(file, seed: seed, from: offset, limit: limit, candidates: candidates)
    stretch = next
    return next
  }
}
