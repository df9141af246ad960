import LogStore

/// The plain table as an application's own state: what the workloads write to a `StatePage`.
struct TableAsState: PageState {
  static let identifier: UInt32 = 0x7461_626C
  static let put = FrameKind(rawValue: 40)
  static let remove = FrameKind(rawValue: 41)

  private(set) var table = OrderedTable()

  init() {}

  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) throws {
    let bytes = unsafe payload.withUnsafeBytes { unsafe Array($0) }
    if kind == TableAsState.remove { return table.apply(.remove(bytes)) }
    guard kind == TableAsState.put, let length = bytes.first.map(Int.init), bytes.count > length else {
      throw Disagreement("a frame that nobody wrote: kind \(kind.rawValue), \(bytes.count) bytes")
    }
    table.apply(.put(Array(bytes[1...length]), Array(bytes[(1 + length)...])))
  }

  func write(to writer: inout StateWriter) throws {
    for record in table.records {
      try writer.append(TableAsState.put, TableAsState.payload(record.key, record.value))
    }
  }

  static func payload(_ key: [UInt8], _ value: [UInt8]) -> [UInt8] { [UInt8(key.count)] + key + value }

  /// Operations that such a state does not know are left out.
  static func add(_ operation: TableOperation, to batch: inout WriteBatch) throws(LogStoreError) {
    switch operation {
    case .put(let key, let value): try batch.append(put, payload(key, value))
    case .remove(let key): try batch.append(remove, key)
    case .putBefore, .move, .moveToEnd, .clear:
      throw LogStoreError(.wrongState, "the state knows no such operation: \(operation)")
    }
  }
}
