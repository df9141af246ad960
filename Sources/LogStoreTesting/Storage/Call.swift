public import LogStore

/// One call that the engine made to a ``SimulatedStorage``.
public struct Call: Sendable, Hashable, CustomStringConvertible {
  public var operation: StorageError.Operation
  /// The file or directory concerned; for a rename, the new name.
  public var path: String
  /// Where in the file a read or write began.
  public var offset: UInt64?
  /// The bytes that were asked for.
  public var count: Int?
  /// How the call failed; nil if it did not.
  public var errno: Int32?

  public init(_ operation: StorageError.Operation, path: String, offset: UInt64? = nil, count: Int? = nil) {
    self.operation = operation
    self.path = path
    self.offset = offset
    self.count = count
  }

  /// The last component of the path.
  public var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Whether calls of this kind change what a crash may leave behind.
  public var changesDisk: Bool { Call.changing.contains(operation) }

  static let changing: Set<StorageError.Operation> = [
    .createDirectory, .create, .write, .sync, .syncDirectory, .syncParent, .rename, .remove,
  ]

  public var description: String {
    var text = "\(operation.rawValue) \(name)"
    if let count, let offset { text += " \(count)@\(offset)" }
    if let errno { text += " errno \(errno)" }
    return text
  }
}
