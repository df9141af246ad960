/// Reading everything, and saying what is wrong.
extension SnapshotReader {
  /// What is wrong with the file, by range; empty if nothing is. Read errors are thrown.
  func verifyAll(progress: ProgressHandler? = nil) throws(LogStoreError) -> [Finding] {
    source.file.dropCache()
    var verifier = SnapshotVerifier(self, progress: progress)
    return try verifier.run()
  }

  /// The bytes to report for an error that reading gave at `offset`: the frame's, by its own length if that stays in its
  /// section, otherwise all to the section's end.
  func damagedRange(at offset: UInt64) throws(LogStoreError) -> Range<UInt64> {
    let ends = [footer.recordsOffset, footer.orderOffset, footer.keysOffset, footerOffset]
    guard let limit = ends.first(where: { $0 > offset }) else { return footerOffset..<size }
    return try FrameWindow(source, readAhead: Limits.frameOverhead).damagedRange(at: offset, limit: limit)
  }
}

extension Finding {
  static func damagedSnapshot(_ file: String, _ range: Range<UInt64>, _ what: String) -> Finding {
    Finding(
      .damagedSnapshot, .damage, file: file, range: range, detail: what,
      remedy: "logctl compact PAGE")
  }
}
