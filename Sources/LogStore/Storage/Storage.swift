/// Where pages live. The engine does all its input and output through this protocol, so that tests can put a simulated
/// disk in the place of the real one.
///
/// Every method is one system call, or as near to one as the platform allows: retrying, continuing a short write and
/// deciding what an error means are the engine's.
public protocol Storage: Sendable {
  /// Opens a directory. With `create`, makes its last part first if it is absent (`ENOENT` otherwise).
  func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory
  /// Nanoseconds since 1970.
  func wallClock() -> Int64
  /// Nanoseconds on a clock that only goes forward; a coarse one is enough.
  func monotonicClock() -> Int64
  /// Fills with random bytes, for salts and identities.
  func random() -> UInt64
  /// Whether a sync at ``Durability/ordered`` is one at ``Durability/power``. Where nothing is said, it is not.
  var orderedIsDurable: Bool { get }
}

extension Storage {
  public var orderedIsDurable: Bool { false }
}

/// An open directory. Names are single path components.
public protocol StorageDirectory: AnyObject, Sendable {
  var path: String { get }
  /// All names but `.` and `..`, in no order.
  func list() throws(StorageError) -> [String]
  /// What `name` is; nil if there is nothing of that name. Symbolic links are not followed.
  func status(of name: String) throws(StorageError) -> FileStatus?
  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile
  /// Atomic; fails with `EEXIST` where `to` exists.
  func rename(_ from: String, to: String) throws(StorageError)
  func remove(_ name: String) throws(StorageError)
  /// Forces names to the medium.
  func sync(_ level: Durability) throws(StorageError)
  /// Forces the name of this directory in its parent to the medium.
  func syncParent(_ level: Durability) throws(StorageError)
  /// Takes the writer's lock; false if another holds it. Held until `unlock`, `close` or the end of the process.
  func lock() throws(StorageError) -> Bool
  func unlock()
  /// Whether the directory still has a name.
  func isLinked() throws(StorageError) -> Bool
  /// Whether locks exclude writers on other machines that see the same files: false on network file systems.
  func isLocal() throws(StorageError) -> Bool
  /// Bytes that can still be written, as far as the system knows.
  func availableBytes() throws(StorageError) -> UInt64
  func close()
}

extension StorageDirectory {
  /// The path of a file in the directory, for whoever is told of it.
  func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }
}

/// An open file.
public protocol StorageFile: AnyObject, Sendable {
  func status() throws(StorageError) -> FileStatus
  /// Reads at most `buffer.count` bytes into its beginning; 0 only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int
  /// Writes a prefix of `bytes` and returns its length.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int
  /// Forces data and size, not the name.
  func sync(_ level: Durability) throws(StorageError)
  /// Tells the system that the cached bytes of the file are not needed, so that reading them again asks the medium.
  func dropCache()
  /// The same for a range: whole pages of it that have been written.
  func dropCache(_ range: Range<UInt64>)
  /// Has the system write out what it keeps of a range, and where `waits`, returns once that is done. Nothing is durable
  /// behind it: that takes a sync. False where the system cannot be asked for it.
  ///
  /// The error of such a write may be told only once. Whoever is told must not go on as if a later sync would tell it.
  func writeOut(_ range: Range<UInt64>, waits: Bool) throws(StorageError) -> Bool
  /// Tells the system that the file will be read from front to back.
  func willReadSequentially()
  func close()
}

extension StorageFile {
  public func dropCache(_ range: Range<UInt64>) { dropCache() }
  public func writeOut(_ range: Range<UInt64>, waits: Bool) throws(StorageError) -> Bool { false }
}

public enum FileAccess: Sendable {
  case read
  case readWrite
  /// Fails with `EEXIST` where the name exists.
  case createNew
}

public struct FileStatus: Sendable, Hashable {
  public enum Kind: Sendable { case file, directory, other }
  public var kind: Kind
  public var size: UInt64
  /// The file's number on its volume.
  public var inode: UInt64
  /// Seconds since 1970 of the last change of the content.
  public var modified: Int64
  /// Names that the file has; 0 once it is removed.
  public var links: UInt64

  public init(kind: Kind, size: UInt64, inode: UInt64, modified: Int64, links: UInt64) {
    self.kind = kind
    self.size = size
    self.inode = inode
    self.modified = modified
    self.links = links
  }
}

/// A failed system call.
public struct StorageError: Error, Sendable, Hashable {
  public enum Operation: String, Sendable, CaseIterable {
    case openDirectory, createDirectory, list, status, open, create, read, write, writeOut, sync, syncDirectory
    case syncParent, rename, remove, lock
  }
  public var operation: Operation
  public var errno: Int32
  public var path: String

  public init(_ operation: Operation, errno: Int32, path: String) {
    self.operation = operation
    self.errno = errno
    self.path = path
  }
}
