// placeholder until the POSIX implementation lands
public struct FileSystemStorage: Storage {
  public init() {}
  public func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory { fatalError() }
  public func wallClock() -> Int64 { 0 }
  public func monotonicClock() -> Int64 { 0 }
  public func random() -> UInt64 { 0 }
}
