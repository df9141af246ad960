/// The members that a line may have.
enum LineMember: UInt8, CaseIterable {
  case op, key, value, before, key64, value64, before64

  /// Recognises a name of at most eight bytes from its bytes put together, the first one lowest.
  init?(packed: UInt64) {
    switch packed {
    case 0x706f: self = .op
    case 0x79_656b: self = .key
    case 0x65_756c_6176: self = .value
    case 0x6572_6f66_6562: self = .before
    case 0x34_3679_656b: self = .key64
    case 0x34_3665_756c_6176: self = .value64
    case 0x3436_6572_6f66_6562: self = .before64
    default: return nil
    }
  }

  var name: String {
    switch self {
    case .op: "op"
    case .key: "key"
    case .value: "value"
    case .before: "before"
    case .key64: "key64"
    case .value64: "value64"
    case .before64: "before64"
    }
  }

  var bit: UInt8 { 1 << rawValue }

  var isBase64: Bool { rawValue >= LineMember.key64.rawValue }

  /// The same member in its other form.
  var otherForm: LineMember? {
    switch self {
    case .op: nil
    case .key: .key64
    case .value: .value64
    case .before: .before64
    case .key64: .key
    case .value64: .value
    case .before64: .before
    }
  }
}

/// The names that `op` may have.
enum LineVerb: UInt64 {
  case put = 0x74_7570
  case remove = 0x6576_6f6d_6572
  case move = 0x6576_6f6d
  case clear = 0x72_6165_6c63

  var name: String {
    switch self {
    case .put: "put"
    case .remove: "remove"
    case .move: "move"
    case .clear: "clear"
    }
  }
}
