/// An open snapshot's file, with what it takes to read and judge its bytes. Safe from many threads.
struct SnapshotSource: Sendable {
  let file: any StorageFile
  let path: String
  /// The file's length when it was opened. A snapshot never changes, so a shorter read later is damage.
  let size: UInt64
  let codec: FrameCodec

  func bytes(at offset: UInt64, count: Int) throws(LogStoreError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = try file.read(count: count, at: offset) } catch { throw LogStoreError(error, offset: offset) }
    guard bytes.count == count else { throw damaged(offset + UInt64(bytes.count), "the file has become shorter") }
    return bytes
  }

  /// Puts exactly `count` bytes from `offset` on behind those that `buffer` holds.
  func read(appendingTo buffer: ByteBuffer, count: Int, at offset: UInt64) throws(LogStoreError) {
    let done: Int
    do {
      done = try file.read(appendingTo: buffer, count: count, at: offset)
    } catch {
      throw LogStoreError(error, offset: offset)
    }
    guard done == count else { throw damaged(offset + UInt64(done), "the file has become shorter") }
  }

  func damaged(_ offset: UInt64, _ what: String) -> LogStoreError {
    LogStoreError(
      .damaged, "the snapshot is damaged: \(what)" + LogStoreError.salvageRemedy, path: path, offset: offset)
  }

  /// Wherever a frame of a reserved kind verifies, a newer version wrote it: that is no damage.
  func refuseReserved(_ check: FrameCheck, _ offset: UInt64) throws(LogStoreError) {
    if case .good(let type, _) = check, type.kind.isReserved { throw .newerSnapshot(path, offset) }
  }

  /// A frame that verifies and yet does not belong where it stands.
  func misplaced(_ kind: FrameKind, _ offset: UInt64, expected: String) -> LogStoreError {
    if kind.isReserved { return .newerSnapshot(path, offset) }
    return damaged(offset, "a frame of kind \(kind) stands where \(expected) should")
  }
}

extension LogStoreError {
  static let salvageRemedy = "; `logctl salvage PAGE -o NEW` copies what can be read"

  /// The message without that remedy, for a finding, which has one of its own.
  var fault: String {
    message.hasSuffix(LogStoreError.salvageRemedy)
      ? String(message.dropLast(LogStoreError.salvageRemedy.count)) : message
  }

  static func newerSnapshot(_ path: String, _ offset: UInt64) -> LogStoreError {
    LogStoreError(
      .newerVersion, "the snapshot was written by a newer version of LogStore; update",
      path: path, offset: offset)
  }
}

extension FrameKind {
  /// Whether only a newer version can have written the kind.
  var isReserved: Bool { !isKnownInJournal && !(rawValue >= 16 && rawValue <= 20) && rawValue != 0 }
}
