/// An application's own state, in the place of the table of records.
///
/// The engine keeps the frames of kinds 32 to 63 that the application writes, and replays them into the state. A snapshot
/// is the state written out as frames again: replaying those must give the same state.
///
/// ```swift
/// struct Counter: PageState {
///   static let identifier: UInt32 = 0x636E_7472
///   var total = 0
///   init() {}
///   mutating func apply(_ kind: FrameKind, _ payload: RawSpan) { total += Int(payload.byteCount) }
///   func write(to writer: inout StateWriter) throws { … }
/// }
/// ```
public protocol PageState: Sendable {
  /// Stands in the page's files, so that no page is opened as something that it is not. Never 0.
  static var identifier: UInt32 { get }

  /// The state of an empty page.
  init()

  /// Takes in one frame. Frames of a batch come together, and only once the batch is whole.
  ///
  /// What this throws stops the opening or reading of the page (`wrongState`, with the error as its cause).
  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) throws

  /// Writes the whole state as frames, for a snapshot.
  func write(to writer: inout StateWriter) throws
}

/// Receives the frames that a state writes itself out as.
public struct StateWriter {
  let writer: SnapshotWriter
  let progress: (UInt64) throws -> Void
  private var bytes: UInt64 = 0
  private var reported: UInt64 = 0

  init(_ writer: SnapshotWriter, progress: @escaping (UInt64) throws -> Void) {
    self.writer = writer
    self.progress = progress
  }

  /// Appends a frame.
  ///
  /// - Parameters:
  ///   - kind: 32 to 63.
  ///   - payload: what the frame holds.
  /// - Throws: `wrongState` for another kind, `noSpace`, `io`, `cancelled`.
  public mutating func append(_ kind: FrameKind, _ payload: some ByteSource) throws {
    guard kind.isApplication else {
      throw LogStoreError(.wrongState, "an application's frame has a kind from 32 to 63, not \(kind.rawValue)")
    }
    try payload.withByteSpan { (payload) throws(LogStoreError) in
      try writer.appendApplicationFrame(kind, payload)
      bytes += UInt64(payload.byteCount)
    }
    if bytes - reported >= 4 << 20 {
      reported = bytes
      try progress(bytes)
    }
  }
}
