/// Something that lends its bytes: keys and values are given to the engine as any of these.
public protocol ByteSource {
  /// Calls `body` with the bytes, which are valid only during the call.
  func withByteSpan<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result
}

extension Array: ByteSource where Element == UInt8 {
  @inlinable
  public func withByteSpan<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }
}

extension ArraySlice: ByteSource where Element == UInt8 {
  @inlinable
  public func withByteSpan<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes)
  }
}

/// A string lends its UTF-8.
extension String: ByteSource {
  @inlinable
  public func withByteSpan<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var copy = self
    copy.makeContiguousUTF8()
    let bytes = Array(copy.utf8)
    return try unsafe body(bytes.span.bytes)
  }
}
