import LogStore

/// What a page's state is, in the plainest terms: the yardstick for the engine.
struct OrderedTable: Equatable {
  private(set) var records: [Record] = []

  init(_ records: [Record] = []) { self.records = records }

  private func place(of key: [UInt8]) -> Int? { records.firstIndex { $0.key == key } }

  mutating func apply(_ operations: [TableOperation]) { for operation in operations { apply(operation) } }

  mutating func apply(_ operation: TableOperation) {
    switch operation {
    case .put(let key, let value):
      if let place = place(of: key) {
        records[place].value = value
      } else {
        records.append(Record(key: key, value: value))
      }
    case .putBefore(let key, let before, let value):
      if key == before {
        apply(.put(key, value))
      } else {
        if let place = place(of: key) { records.remove(at: place) }
        records.insert(Record(key: key, value: value), at: place(of: before) ?? records.count)
      }
    case .remove(let key):
      if let place = place(of: key) { records.remove(at: place) }
    case .move(let key, let before):
      guard key != before, let place = place(of: key) else { return }
      let record = records.remove(at: place)
      records.insert(record, at: self.place(of: before) ?? records.count)
    case .moveToEnd(let key):
      guard let place = place(of: key) else { return }
      records.append(records.remove(at: place))
    case .clear:
      records = []
    }
  }
}

enum TableOperation: Equatable {
  case put([UInt8], [UInt8])
  case putBefore([UInt8], [UInt8], [UInt8])
  case remove([UInt8])
  case move([UInt8], [UInt8])
  case moveToEnd([UInt8])
  case clear

  func add(to batch: inout WriteBatch) throws(LogStoreError) {
    switch self {
    case .put(let key, let value): try batch.put(value, for: key)
    case .putBefore(let key, let before, let value): try batch.put(value, for: key, before: before)
    case .remove(let key): try batch.remove(key)
    case .move(let key, let before): try batch.move(key, before: before)
    case .moveToEnd(let key): try batch.moveToEnd(key)
    case .clear: try batch.clear()
    }
  }
}

extension TableOperation: CustomStringConvertible {
  var description: String {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    return switch self {
    case .put(let key, let value): "put \(text(key))(\(value.count))"
    case .putBefore(let key, let before, let value): "put \(text(key))(\(value.count)) before \(text(before))"
    case .remove(let key): "remove \(text(key))"
    case .move(let key, let before): "move \(text(key)) before \(text(before))"
    case .moveToEnd(let key): "move \(text(key)) to end"
    case .clear: "clear"
    }
  }
}

extension WriteBatch {
  init(_ operations: [TableOperation], partBytes: Int = Limits.payloadBytes) throws(LogStoreError) {
    self.init(partBytes: partBytes)
    for operation in operations { try operation.add(to: &self) }
  }
}
