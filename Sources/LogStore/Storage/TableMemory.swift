internal import CPlatform

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Asks the processor to fetch the cache line at `address`, which is going to be written to. A hint: nothing is read.
@inline(__always)
func prefetchMemory(_ address: UnsafeRawPointer) { unsafe logstore_prefetch(address) }

/// Fresh memory in whole pages, its contents undefined; freed by `deallocate`.
///
/// Where it is large, the system is asked for large pages: a table is read at random, and then waits for the translation
/// of addresses as long as for the memory itself.
func allocateTableMemory(_ bytes: Int) -> UnsafeMutableRawPointer {
  #if os(Linux)
    let large = 2 << 20
    if bytes >= large {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: large)
      // A wish: without large pages it is as good, but slower.
      unsafe madvise(memory, bytes / large * large, MADV_HUGEPAGE)
      return unsafe memory
    }
  #endif
  return .allocate(byteCount: bytes, alignment: MemorySlot.pageBytes)
}
