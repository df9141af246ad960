import LogStore

/// A page's state in the plainest terms: what the engine is compared with.
struct PlainTable: Equatable {
  private(set) var records: [Row] = []

  private func place(_ key: [UInt8]) -> Int? { records.firstIndex { $0.key == key } }

  mutating func apply(_ operation: LoggedOperation) {
    switch operation {
    case .put(let key, let value):
      if let place = place(key) {
        records[place].value = value
      } else {
        records.append(Row(key: key, value: value))
      }
    case .putBefore(let key, let before, let value):
      if key == before { return apply(.put(key: key, value: value)) }
      if let place = place(key) { records.remove(at: place) }
      records.insert(Row(key: key, value: value), at: place(before) ?? records.count)
    case .remove(let key):
      if let place = place(key) { records.remove(at: place) }
    case .move(let key, let before):
      guard let place = place(key), key != before else { return }
      let record = records.remove(at: place)
      records.insert(record, at: before.flatMap { self.place($0) } ?? records.count)
    case .clear:
      records = []
    case .application:
      break
    }
  }
}

/// A record, compared here and not in the library, whose comparisons the fuzzer watches.
struct Row: Equatable {
  var key: [UInt8]
  var value: [UInt8]
}

extension WriteBatch {
  mutating func add(_ operation: LoggedOperation) throws(LogStoreError) {
    switch operation {
    case .put(let key, let value): try put(value, for: key)
    case .putBefore(let key, let before, let value): try put(value, for: key, before: before)
    case .remove(let key): try remove(key)
    case .move(let key, let before?): try move(key, before: before)
    case .move(let key, nil): try moveToEnd(key)
    case .clear: try clear()
    case .application(let kind, let payload): try append(kind, payload)
    }
  }
}
