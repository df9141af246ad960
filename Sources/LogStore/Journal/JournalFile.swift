/// An open journal: its file and what its header says.
final class JournalFile: Sendable {
  let name: String
  let path: String
  let file: PreservingFile
  let header: JournalHeader
  let codec: FrameCodec
  /// As it was when the journal was opened.
  let status: FileStatus

  init(name: String, path: String, file: any StorageFile, header: JournalHeader, status: FileStatus) {
    self.name = name
    self.path = path
    self.file = PreservingFile(file, path: path)
    self.header = header
    self.status = status
    codec = FrameCodec(salt: header.salt)
  }

  var generation: UInt64 { header.generation }
  /// Whether the file is the one that its writer made, not a copy of it.
  var isOriginal: Bool { status.inode == header.inode }

  func reader(from first: UInt64 = 0, limit: UInt64) -> JournalReader {
    JournalReader(file: file, name: name, path: path, header: header, from: first, limit: limit)
  }

  /// The losses that the journal names behind its header.
  func losses() throws(LogStoreError) -> [LossRecord] {
    let reader = reader(limit: status.size)
    var found: [LossRecord] = []
    let resynchronizer = Resynchronizer(reader, limit: status.size)
    var place = UInt64(Limits.headerBytes)
    while place < status.size {
      if let frame = try reader.frame(at: place) {
        guard let loss = frame.loss else { break }
        found.append(loss)
        place = frame.end
      } else if let next = try resynchronizer.resume(after: place) {
        // One that does not verify hides none of the others.
        place = next
      } else {
        break
      }
    }
    return found
  }

  deinit { file.close() }
}
