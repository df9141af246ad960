/// Reads record values from the journals that they lie in, and verifies every frame on the way.
struct JournalValues: Sendable {
  let files: [JournalFile]

  /// Values up to this long are read without allocating more than the result.
  private static let onStack = 16 << 10

  func value(at location: ValueLocation) throws(LogStoreError) -> [UInt8] {
    var result: [UInt8] = []
    try unsafe withFrames(location) { (frames) throws(LogStoreError) in
      result.reserveCapacity(frames.count)
      try unsafe forEachPart(of: frames, location) { unsafe result.append(contentsOf: $0) }
    }
    return result
  }

  /// Calls `body` with the record's frames, as they stand in the file.
  private func withFrames(
    _ location: ValueLocation, _ body: (UnsafeRawBufferPointer) throws(LogStoreError) -> Void
  ) throws(LogStoreError) {
    let count = Int(location.length)
    if count <= JournalValues.onStack {
      let failure: LogStoreError? = unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { room in
        do throws(LogStoreError) {
          try unsafe read(location, into: room)
          try unsafe body(UnsafeRawBufferPointer(room))
          return nil
        } catch {
          return error
        }
      }
      if let failure { throw failure }
    } else {
      let buffer = ByteBuffer(capacity: count)
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.storage[..<count])
      try unsafe read(location, into: room)
      try unsafe body(UnsafeRawBufferPointer(room))
    }
  }

  private func read(_ location: ValueLocation, into room: UnsafeMutableRawBufferPointer) throws(LogStoreError) {
    let journal = files[Int(location.file)]
    let count = try mapped(offset: location.offset) { () throws(StorageError) in
      try unsafe journal.file.readFully(into: room, at: location.offset)
    }
    guard count == room.count else { throw damaged(journal, location.offset, "the journal is shorter than it was") }
  }

  /// Calls `body` with the pieces of a value, in order. `frames` are the record's, from the first part on.
  func forEachPart(
    of frames: UnsafeRawBufferPointer, _ location: ValueLocation, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(LogStoreError) {
    let journal = files[Int(location.file)]
    guard let base = frames.baseAddress else { return }
    var place = 0
    while place < frames.count {
      let offset = location.offset + UInt64(place)
      guard
        case .good(let type, let length) = unsafe journal.codec.check(
          base + place, available: frames.count - place, offset: offset)
      else { throw damaged(journal, offset, "a record's frame no longer verifies") }
      let frame = unsafe JournalFrame(type, at: base + place, length: length, offset: offset)
      guard frame.form(salt: journal.codec.salt) == .good else {
        throw damaged(journal, offset, "a record's frame has not the form of its kind")
      }
      unsafe body(frame.value)
      place += Limits.frameOverhead + length
    }
  }

  private func damaged(_ journal: JournalFile, _ offset: UInt64, _ what: String) -> LogStoreError {
    LogStoreError(
      .damaged, "\(what); close the page and open it again, or see `logctl verify`", path: journal.path, offset: offset)
  }
}

/// Reads the values of many records one after the other, with few and large reads where they lie behind one another.
final class JournalSweep {
  private let values: JournalValues
  private var windows: [FileWindow?]
  private var expected: [UInt64]
  private let assembly = ByteBuffer()

  private static let ahead = 256 << 10
  /// A gap up to this long is read over.
  private static let near: UInt64 = 64 << 10

  init(_ values: JournalValues) {
    self.values = values
    windows = Array(repeating: nil, count: values.files.count)
    expected = Array(repeating: .max, count: values.files.count)
  }

  /// Calls `body` with the value; the bytes are good during the call.
  func withValue<Result>(
    at location: ValueLocation, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    let file = Int(location.file)
    let journal = values.files[file]
    let window: FileWindow
    if let known = windows[file] {
      window = known
    } else {
      window = FileWindow(journal.file, from: location.offset, limit: .max)
      windows[file] = window
    }
    let end = location.offset + UInt64(location.length)
    let isNear = location.offset >= expected[file] && location.offset - expected[file] <= JournalSweep.near
    expected[file] = end
    let frames = try unsafe mapped(offset: location.offset) { () throws(StorageError) in
      try unsafe window.bytes(
        at: location.offset, count: Int(location.length), ahead: isNear ? JournalSweep.ahead : 0)
    }
    guard frames.count >= Int(location.length) else {
      throw LogStoreError(.damaged, "the journal is shorter than it was", path: journal.path, offset: location.offset)
    }
    let record = unsafe UnsafeRawBufferPointer(rebasing: frames[..<Int(location.length)])
    var whole: UnsafeRawBufferPointer?
    var parts = 0
    assembly.count = 0
    try unsafe values.forEachPart(of: record, location) { part in
      parts += 1
      if parts == 1 {
        unsafe whole = part
      } else {
        if parts == 2, let first = unsafe whole { unsafe assembly.append(first) }
        unsafe assembly.append(part)
      }
    }
    if parts > 1 { unsafe whole = assembly.bytes }
    return try unsafe body(whole ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
