/// Operations on a table as words: `p+k1=12.7` puts 12 bytes, the seventh kind of them, under `k1`.
enum OperationText {
  static func text(_ operation: TableOperation) -> String {
    switch operation {
    case .put(let key, let value): "p+\(name(key))=\(text(value: value))"
    case .putBefore(let key, let before, let value): "b+\(name(key))+\(name(before))=\(text(value: value))"
    case .remove(let key): "r+\(name(key))"
    case .move(let key, let before): "m+\(name(key))+\(name(before))"
    case .moveToEnd(let key): "e+\(name(key))"
    case .clear: "clear"
    }
  }

  static func operation(_ text: String) -> TableOperation? {
    if text == "clear" { return .clear }
    let sides = text.split(separator: "=", maxSplits: 1)
    let names = sides[0].split(separator: "+").map(String.init)
    guard let verb = names.first, names.count > 1 else { return nil }
    let key = Array(names[1].utf8)
    let other = names.count > 2 ? Array(names[2].utf8) : nil
    let value = sides.count > 1 ? value(String(sides[1])) : nil
    switch (verb, other, value) {
    case ("p", nil, let value?): return .put(key, value)
    case ("b", let other?, let value?): return .putBefore(key, other, value)
    case ("r", nil, nil): return .remove(key)
    case ("m", let other?, nil): return .move(key, other)
    case ("e", nil, nil): return .moveToEnd(key)
    default: return nil
    }
  }

  private static func name(_ key: [UInt8]) -> String { String(decoding: key, as: UTF8.self) }

  /// Bytes that length and tag decide, so that values can be told from one another, and text stays short.
  static func value(_ length: Int, tag: UInt64) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: (tag >> (UInt64($0 % 8) * 8)) &+ UInt64($0)) }
  }

  private static func value(_ text: String) -> [UInt8]? {
    let parts = text.split(separator: ".")
    guard parts.count == 2, let length = Int(parts[0]), let tag = UInt64(parts[1], radix: 16) else { return nil }
    return value(length, tag: tag)
  }

  private static func text(value: [UInt8]) -> String {
    var tag: UInt64 = 0
    for (place, byte) in value.prefix(8).enumerated() {
      tag |= UInt64(byte &- UInt8(place)) << (UInt64(place) * 8)
    }
    return "\(value.count).\(String(tag, radix: 16))"
  }
}
