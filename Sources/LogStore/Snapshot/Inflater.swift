#if Deflate && os(Linux)
  internal import CDeflate
#else
  internal import CZlib
#endif

/// Undoes raw deflate (RFC 1951), with libdeflate or zlib, which read the same bytes. One thread at a time.
///
/// Safety: the C libraries read no more than the input's count and write no more than the output's, both of which are
/// spans' and arrays' own; the state is freed once, here.
@safe final class Inflater {
  #if Deflate && os(Linux)
    private let state: OpaquePointer?
    init() { unsafe state = libdeflate_alloc_decompressor() }
    deinit { unsafe libdeflate_free_decompressor(state) }
  #else
    init() {}
  #endif

  /// The `rawLength` bytes that `data` inflates to; nil unless it inflates to exactly so many and is used up by that.
  func inflate(_ data: RawSpan, rawLength: Int) -> [UInt8]? {
    var isExact = false
    let bytes = unsafe data.withUnsafeBytes { input in
      unsafe [UInt8](filling: rawLength) { output in
        isExact = unsafe inflate(input, UnsafeMutableRawBufferPointer(rebasing: output[..<rawLength]))
        return isExact ? rawLength : 0
      }
    }
    return isExact ? bytes : nil
  }

  private func inflate(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Bool {
    #if Deflate && os(Linux)
      guard let source = input.baseAddress, let target = output.baseAddress, let state = unsafe state else {
        return false
      }
      var used = 0
      // Without a place for the output's length, any other length than the given one is a failure.
      let result = unsafe libdeflate_deflate_decompress_ex(
        state, source, input.count, target, output.count, &used, nil)
      return result == LIBDEFLATE_SUCCESS && used == input.count
    #else
      guard let source = input.baseAddress, let target = output.baseAddress else { return false }
      var stream = unsafe z_stream()
      let version = unsafe zlibVersion()
      guard unsafe inflateInit2_(&stream, -15, version, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        return false
      }
      defer { unsafe inflateEnd(&stream) }
      // zlib's older interface: it does not write through this pointer.
      unsafe stream.next_in = UnsafeMutablePointer(mutating: source.assumingMemoryBound(to: UInt8.self))
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = target.assumingMemoryBound(to: UInt8.self)
      unsafe stream.avail_out = UInt32(output.count)
      let result = unsafe CZlib.inflate(&stream, Z_FINISH)
      return unsafe result == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0
    #endif
  }
}
