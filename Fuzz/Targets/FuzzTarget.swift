import LogStore

/// Something that takes any bytes, and the promise that holds for all of them.
///
/// What is broken is thrown, so that a unit test can replay an input; traps and sanitizers speak for themselves.
struct FuzzTarget: Sendable {
  var name: String
  var run: @Sendable ([UInt8]) throws -> Void

  static let all: [FuzzTarget] = [
    .frame, .lines, .roundtrip, .journal, .snapshot, .operations, .crashes, .directories,
  ]

  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A promise that an input broke.
struct Broken: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

func demand(_ holds: Bool, _ promise: @autoclosure () -> String) throws(Broken) {
  if !holds { throw Broken(promise()) }
}

/// The engine's error that `body` fails with; nil where it succeeds. Other errors pass.
func refusal(_ body: () throws -> Void) throws -> LogStoreError? {
  do {
    try body()
    return nil
  } catch {
    guard let refusal = error as? LogStoreError else { throw error }
    return refusal
  }
}

/// Bytes that are handed out from the front; zeros when there are no more.
struct InputBytes {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isEmpty: Bool { at >= bytes.count }

  mutating func byte() -> UInt8 {
    guard at < bytes.count else { return 0 }
    defer { at += 1 }
    return bytes[at]
  }

  /// Little-endian.
  mutating func number(bytes count: Int) -> UInt64 {
    (0..<count).reduce(0) { number, place in number | UInt64(byte()) << UInt64(8 * place) }
  }

  mutating func take(_ count: Int) -> [UInt8] {
    let end = at + min(count, bytes.count - at)
    defer { at = end }
    return Array(bytes[at..<end])
  }

  mutating func rest() -> [UInt8] { take(bytes.count - at) }
}
