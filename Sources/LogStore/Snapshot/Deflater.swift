#if Deflate && os(Linux)
  internal import CDeflate
#else
  internal import CZlib
#endif

/// Makes raw deflate (RFC 1951), with libdeflate or zlib. One thread at a time.
///
/// Safety: as for `Inflater`.
@safe final class Deflater {
  /// The lowest: of text, what it makes is 5 to 13 % larger than at level 6, in a third to a half of the time, and
  /// deflating is what a compaction takes longest for.
  private static let level: Int32 = 1

  #if Deflate && os(Linux)
    private let state: OpaquePointer?
    init() { unsafe state = libdeflate_alloc_compressor(Deflater.level) }
    deinit { unsafe libdeflate_free_compressor(state) }
  #else
    init() {}
  #endif

  /// Puts the deflated `input` behind what `output` holds; false, and nothing is put, if it takes more than `limit` bytes.
  func deflate(_ input: RawSpan, into output: ByteBuffer, limit: Int) -> Bool {
    guard limit > 0 else { return false }
    let start = output.count
    let target = unsafe UnsafeMutableRawBufferPointer(start: output.extend(limit), count: limit)
    let length = unsafe input.withUnsafeBytes { unsafe deflate($0, target) }
    output.count = start + (length ?? 0)
    return length != nil
  }

  private func deflate(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Int? {
    #if Deflate && os(Linux)
      guard let source = input.baseAddress, let target = output.baseAddress, let state = unsafe state else {
        return nil
      }
      let length = unsafe libdeflate_deflate_compress(state, source, input.count, target, output.count)
      return length > 0 ? length : nil
    #else
      guard let source = input.baseAddress, let target = output.baseAddress else { return nil }
      var stream = unsafe z_stream()
      let version = unsafe zlibVersion()
      guard
        unsafe deflateInit2_(
          &stream, Deflater.level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, version,
          Int32(MemoryLayout<z_stream>.size)) == Z_OK
      else { return nil }
      defer { unsafe deflateEnd(&stream) }
      unsafe stream.next_in = UnsafeMutablePointer(mutating: source.assumingMemoryBound(to: UInt8.self))
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = target.assumingMemoryBound(to: UInt8.self)
      unsafe stream.avail_out = UInt32(output.count)
      guard unsafe CZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END else { return nil }
      return unsafe output.count - Int(stream.avail_out)
    #endif
  }
}
