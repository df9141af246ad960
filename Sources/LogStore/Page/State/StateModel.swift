/// An application's own state, as the engine replays it.
///
/// Used under the lock of the page that owns it.
final class StateModel<State: PageState>: PageModel {
  private(set) var value = State()

  static var isApplication: Bool { true }
  var state: UInt32 { State.identifier }

  func rebase(onto base: SnapshotBase?) throws(LogStoreError) {
    value = State()
    guard let base else { return }
    let reader = base.reader
    guard reader.header.state == State.identifier else {
      throw LogStoreError.wrongState(reader.header.state, path: reader.path)
    }
    do {
      try reader.applicationFrames { kind, payload in try value.apply(kind, payload) }
    } catch {
      // What does not verify is made good from the kept generation, as single records are.
      try base.rebuild(self, after: LogStoreError.fromState(error, path: reader.path))
    }
  }

  func replay(_ walk: inout JournalWalk, file: Int) throws(LogStoreError) {
    guard walk.reader.header.state == State.identifier else {
      throw LogStoreError.wrongState(walk.reader.header.state, path: walk.reader.path)
    }
    var sink = StateSink(value: value, path: walk.reader.path)
    // One owner at a time: the state changes in place.
    value = State()
    defer { value = sink.value }
    try walk.run(&sink)
  }
}

/// Hands whole batches to the state.
private struct StateSink<State: PageState>: JournalSink {
  var value: State
  let path: String
  private var frames: [(kind: FrameKind, range: Range<Int>)] = []
  private let bytes = ByteBuffer()
  private var start = 0

  init(value: State, path: String) {
    self.value = value
    self.path = path
  }

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {
    unsafe bytes.append(frame.payload)
    if frame.kind == .part { return }
    frames.append((frame.kind, start..<bytes.count))
    start = bytes.count
  }

  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    for (kind, range) in frames where kind.isApplication {
      do {
        try unsafe value.apply(kind, RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes.bytes[range])))
      } catch {
        throw LogStoreError.fromState(error, path: path, offset: batch.start)
      }
    }
    abandon()
    return true
  }

  mutating func abandon() {
    frames.removeAll(keepingCapacity: true)
    bytes.count = 0
    start = 0
  }
}

extension LogStoreError {
  /// What an application's state has thrown, or the engine on its way there.
  static func fromState(_ error: any Error, path: String, offset: UInt64? = nil) -> LogStoreError {
    (error as? LogStoreError)
      ?? LogStoreError(
        .wrongState, "the application's state refused a frame: \(error)", path: path, offset: offset, cause: error)
  }
}

extension StateModel: CompactableModel {
  static func image(_ state: Materialized<StateModel<State>>) -> State { state.model.value }

  static func records(in image: State) -> UInt64 { 0 }

  static func write(_ image: State, to writer: SnapshotWriter, progress: (UInt64) throws -> Void) throws {
    try withoutActuallyEscaping(progress) { progress in
      var output = StateWriter(writer, progress: progress)
      try image.write(to: &output)
    }
  }

  /// Only the state knows; what is there now is the best guess.
  static func estimatedBytes(_ image: State) throws(LogStoreError) -> UInt64 { 0 }
}
