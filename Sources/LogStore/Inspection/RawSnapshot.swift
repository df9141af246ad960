/// A snapshot whose header or footer is damaged, read frame by frame for what verifies.
///
/// The salt is taken from where it stands, although nothing vouches for it: a wrong one only means that no frame verifies.
struct RawSnapshot {
  private let source: SnapshotSource
  let name: String

  /// Nil where the file is too short to be read so.
  init?(_ file: any StorageFile, name: String, path: String) throws(LogStoreError) {
    let size = try mapped { () throws(StorageError) in try file.status().size }
    guard size > UInt64(Limits.headerBytes) else { return nil }
    self.name = name
    let bare = SnapshotSource(file: file, path: path, size: size, codec: FrameCodec(salt: 0))
    let head = try bare.bytes(at: 0, count: Limits.headerBytes)
    let salt = head.lend(48..<56) { $0.u64(0) }
    source = SnapshotSource(file: file, path: path, size: size, codec: FrameCodec(salt: salt))
  }

  /// Calls `body` with every record that verifies, in the order of the file; returns what was passed over. `goesOn` is asked
  /// now and then; false cancels.
  func forEach(goesOn: @escaping () -> Bool = { true }, _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void)
    throws -> [Finding]
  {
    var findings: [Finding] = []
    let window = FrameWindow(source)
    let assembly = ByteBuffer()
    let inflater = Inflater()
    var offset = UInt64(Limits.headerBytes)
    let search = CandidateSearch(source.file, seed: source.codec.seed, limit: source.size)
    let progress = ReadingProgress(source.path, from: offset) { _ in goesOn() }
    search.progress = progress
    while offset < source.size {
      try progress.come(to: offset)
      guard let frame = try frame(at: offset, window, search) else {
        let next = try resume(behind: offset, window, search)
        findings.append(Finding.damagedSnapshot(name, offset..<next, "nothing verifies here"))
        offset = next
        continue
      }
      offset = frame.end
      switch frame.type.kind {
      case .record where frame.type.isFirst && frame.type.isLast:
        let payload = window.buffer.lend(frame.payload) { $0.bytes }
        if let places = payload.lend(0..<payload.count, { RecordFormat.record($0, at: 0) }) {
          try body(Array(payload[places.key]), Array(payload[places.value]))
        }
      case .part where frame.type.isFirst:
        let whole: PartAssembler.Assembled
        do throws(LogStoreError) {
          whole = try PartAssembler.assemble(from: frame, in: window, into: assembly, limit: source.size)
        } catch {
          guard error.code == .damaged else { throw error }
          // The walk meets the part that does not verify, and says so.
          continue
        }
        offset = whole.end
        let last = assembly.lend(whole.last) { $0.bytes }
        guard whole.type.kind == .record, let places = last.lend(0..<last.count, { RecordFormat.record($0, at: 0) })
        else { continue }
        try body(Array(last[places.key]), assembly.lend(0..<whole.last.lowerBound) { $0.bytes } + last[places.value])
      case .block:
        let payload = window.buffer.lend(frame.payload) { $0.bytes }
        let count = Int(SnapshotLayout.maximumRecords)
        guard let head = payload.lend(0..<payload.count, { BlockHead($0, count: count) }),
          let block = payload.lend(0..<payload.count, { head.inflate($0, with: inflater) })
        else { continue }
        var place = 0
        for _ in head.records {
          guard let places = block.lend(0..<block.count, { RecordFormat.blockRecord($0, at: place) }) else { break }
          try body(Array(block[places.key]), Array(block[places.value]))
          place = places.value.upperBound
        }
      default:
        continue
      }
    }
    return findings
  }

  /// The next place at which two frames in a row verify, or one that ends the file; the end of the file without one.
  private func resume(
    behind fault: UInt64, _ window: FrameWindow, _ search: CandidateSearch
  ) throws(LogStoreError) -> UInt64 {
    var from = fault + 1
    while let candidate = try search.first(from: from, upTo: source.size) {
      if let found = try frame(at: candidate, window, search) {
        if found.end == source.size { return candidate }
        if try frame(at: found.end, window, search) != nil { return candidate }
      }
      from = candidate + 1
    }
    return source.size
  }

  private func frame(
    at offset: UInt64, _ window: FrameWindow, _ search: CandidateSearch
  ) throws(LogStoreError) -> FrameWindow.Frame? {
    try search.refutes(offset) ? nil : window.frame(at: offset, limit: source.size)
  }
}

extension RawSpan {
  fileprivate var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
