/// The last frame of a snapshot: where its sections are.
struct SnapshotFooter: Hashable, Sendable {
  var lsn: UInt64
  /// Records, or the application's frames.
  var count: UInt64
  var recordsOffset: UInt64
  var orderOffset: UInt64
  var keysOffset: UInt64
  var buckets: UInt64
  /// CRC-32 of all bytes in front of the footer frame.
  var checksum: UInt32

  static let payloadBytes = 56

  func append(to buffer: ByteBuffer) {
    for field in [lsn, count, recordsOffset, orderOffset, keysOffset, buckets] { buffer.append(field) }
    buffer.append(checksum)
    buffer.append(UInt32(0))
  }

  /// Appends the whole frame, which goes to `offset` of the file.
  func append(frameTo buffer: ByteBuffer, at offset: UInt64, _ codec: FrameCodec) {
    let start = buffer.openFrame()
    append(to: buffer)
    buffer.sealFrame(start, FrameType(.footer), offset: offset, codec: codec)
  }

  /// The payload must have its exact length.
  init(decoding payload: RawSpan) {
    lsn = payload.u64(0)
    count = payload.u64(8)
    recordsOffset = payload.u64(16)
    orderOffset = payload.u64(24)
    keysOffset = payload.u64(32)
    buckets = payload.u64(40)
    checksum = payload.u32(48)
  }

  init(
    lsn: UInt64, count: UInt64, recordsOffset: UInt64, orderOffset: UInt64, keysOffset: UInt64, buckets: UInt64,
    checksum: UInt32
  ) {
    self.lsn = lsn
    self.count = count
    self.recordsOffset = recordsOffset
    self.orderOffset = orderOffset
    self.keysOffset = keysOffset
    self.buckets = buckets
    self.checksum = checksum
  }

  /// What is wrong with the sections, given where the footer stands; nil if they have the sizes that they must have.
  func fault(header: SnapshotHeader, offset: UInt64) -> String? {
    guard lsn == header.lsn else { return "header and footer give different states" }
    guard recordsOffset >= UInt64(Limits.headerBytes), recordsOffset <= orderOffset, orderOffset <= keysOffset,
      keysOffset <= offset
    else { return "the footer's sections are out of order" }
    if header.state != 0 {
      // An application's frames have no tables.
      guard orderOffset == offset, keysOffset == offset, buckets == 0 else {
        return "the footer of an application's state does not fit the file"
      }
      return nil
    }
    guard count <= SnapshotLayout.maximumRecords, buckets == SnapshotLayout.buckets(count: count),
      keysOffset - orderOffset == SnapshotLayout.orderBytes(count: count),
      offset - keysOffset == buckets * UInt64(SnapshotLayout.bucketFrameBytes)
    else { return "the tables do not have the size that \(count) records require" }
    return nil
  }
}
