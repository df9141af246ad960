/// A frame of a journal that verifies. Good until the reader is used again.
@safe struct JournalFrame {
  let type: FrameType
  let offset: UInt64
  private let base: UnsafeRawPointer
  private let count: Int

  /// The frame at `frame` of memory and `offset` of the file, whose payload has `length` bytes.
  @inline(__always)
  init(_ type: FrameType, at frame: UnsafeRawPointer, length: Int, offset: UInt64) {
    self.type = type
    self.offset = offset
    unsafe base = frame + Limits.frameOverhead
    count = length
  }

  @inline(__always)
  var payload: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }
  @inline(__always)
  var kind: FrameKind { type.kind }
  @inline(__always)
  var end: UInt64 { offset &+ UInt64(count &+ Limits.frameOverhead) }

  /// The key that an operation names; empty for frames that name none.
  @inline(__always)
  var key: UnsafeRawBufferPointer {
    switch kind {
    case .put: return unsafe UnsafeRawBufferPointer(start: base + 2, count: Int(base.load(0, as: UInt16.self)))
    case .putBefore, .move:
      return unsafe UnsafeRawBufferPointer(start: base + 4, count: Int(base.load(0, as: UInt16.self)))
    case .remove: return unsafe payload
    default: return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  /// The key in front of which the record goes; empty where there is none.
  @inline(__always)
  var before: UnsafeRawBufferPointer {
    guard kind == .putBefore || kind == .move else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    let keyLength = unsafe Int(base.load(0, as: UInt16.self))
    return unsafe UnsafeRawBufferPointer(start: base + 4 + keyLength, count: Int(base.load(2, as: UInt16.self)))
  }

  /// The bytes of the value that stand in this frame.
  var value: UnsafeRawBufferPointer {
    switch kind {
    case .put: return unsafe UnsafeRawBufferPointer(rebasing: payload[(2 + key.count)...])
    case .putBefore: return unsafe UnsafeRawBufferPointer(rebasing: payload[(4 + key.count + before.count)...])
    default: return unsafe payload
    }
  }

  @inline(__always)
  var mark: Mark? { kind == .mark ? unsafe Mark(payload) : nil }
  var loss: LossRecord? { kind == .loss ? unsafe LossRecord(payload) : nil }

  enum Form { case good, malformed, newer }

  /// Whether the payload has the form that its kind asks for.
  @inline(__always)
  func form(salt: UInt64) -> Form {
    switch kind {
    case .put:
      guard count >= 3 else { return .malformed }
      let key = unsafe Int(base.load(0, as: UInt16.self))
      return key >= 1 && key <= Limits.keyBytes && key + 2 <= count ? .good : .malformed
    case .putBefore:
      guard count >= 5 else { return .malformed }
      let key = unsafe Int(base.load(0, as: UInt16.self))
      let before = unsafe Int(base.load(2, as: UInt16.self))
      return key >= 1 && key <= Limits.keyBytes && before <= Limits.keyBytes && key + before + 4 <= count
        ? .good : .malformed
    case .remove:
      return count >= 1 && count <= Limits.keyBytes ? .good : .malformed
    case .move:
      guard count >= 5 else { return .malformed }
      let key = unsafe Int(base.load(0, as: UInt16.self))
      let before = unsafe Int(base.load(2, as: UInt16.self))
      return key >= 1 && key <= Limits.keyBytes && before <= Limits.keyBytes && key + before + 4 == count
        ? .good : .malformed
    case .clear:
      return count == 0 ? .good : .malformed
    case .part:
      return .good
    case .mark:
      guard type.isFirst, type.isLast, let mark else { return .malformed }
      return mark.salt == salt && mark.durableEnd <= offset ? .good : .malformed
    case .loss:
      return type.isFirst && type.isLast && loss != nil ? .good : .malformed
    case .record, .block, .order, .keys, .footer:
      return .malformed
    default:
      return kind.isApplication ? .good : .newer
    }
  }
}
