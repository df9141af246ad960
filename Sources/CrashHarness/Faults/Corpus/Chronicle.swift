import LogStore

/// A state of an application's own, with the meaning of a table: frames of kind 32 put a record, those of kind 33 remove one.
struct Chronicle: PageState {
  static let identifier: UInt32 = 0x6368_726F
  static let put = FrameKind(rawValue: 32)
  static let remove = FrameKind(rawValue: 33)

  private(set) var table = OrderedTable()

  struct Malformed: Error {}

  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) throws {
    let bytes = unsafe payload.withUnsafeBytes { unsafe Array($0) }
    guard let length = bytes.first.map(Int.init), bytes.count > length else { throw Malformed() }
    let key = Array(bytes[1...length])
    switch kind {
    case Chronicle.put: table.apply(.put(key, Array(bytes[(length + 1)...])))
    case Chronicle.remove: table.apply(.remove(key))
    default: throw Malformed()
    }
  }

  func write(to writer: inout StateWriter) throws {
    for record in table.records { try writer.append(Chronicle.put, Chronicle.payload(record.key, record.value)) }
  }

  static func payload(_ key: [UInt8], _ value: [UInt8] = []) -> [UInt8] { [UInt8(key.count)] + key + value }

  /// The batch for operations that this state knows.
  static func batch(_ operations: [TableOperation]) throws(LogStoreError) -> WriteBatch {
    var batch = WriteBatch()
    for operation in operations {
      switch operation {
      case .put(let key, let value): try batch.append(put, payload(key, value))
      case .remove(let key): try batch.append(remove, payload(key))
      default: throw LogStoreError(.wrongState, "this state has no such operation: \(operation)")
      }
    }
    return batch
  }
}
