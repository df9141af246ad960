import Glibc

/// A disk's bytes in a sparse file, in memory as well.
///
/// Invariant: the memory is mapped as long as the object lives, and used on one thread; the kernel changes it only while
/// a file system is mounted on it.
@safe
final class DiskImage {
  private let file: Int32
  private let memory: UnsafeMutableRawPointer
  let size: Int

  init(_ path: String) throws(SystemFault) {
    file = unsafe open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw SystemFault("opening \(path)") }
    size = lseek(file, 0, SEEK_END)
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw SystemFault("mapping \(path)") }
    unsafe self.memory = unsafe memory
  }

  deinit {
    unsafe munmap(memory, size)
    close(file)
  }

  func apply(_ patch: DiskState.Patch) {
    let offset = Int(patch.offset)
    guard offset >= 0, offset + patch.bytes.count <= size else { return }
    unsafe patch.bytes.withUnsafeBytes {
      if let source = $0.baseAddress { unsafe memcpy(memory + offset, source, $0.count) }
    }
  }

  func apply(_ log: DiskLog, _ range: Range<Int>) {
    for entry in log.entries[range] {
      if case .write(let offset, let bytes) = entry { apply(DiskState.Patch(offset: offset, bytes: bytes[...])) }
    }
  }

  /// Makes this one like another, and touches only what differs.
  func become(_ other: DiskImage) {
    let wanted = other.extents()
    for range in DiskImage.gaps(of: extents(), in: wanted) {
      // Makes a hole of it.
      unsafe madvise(memory + range.lowerBound, range.count, MADV_REMOVE)
    }
    for range in wanted {
      for place in stride(from: range.lowerBound, to: range.upperBound, by: 4096) {
        let count = min(4096, range.upperBound - place)
        let (mine, its) = unsafe (memory + place, other.memory + place)
        if unsafe memcmp(mine, its, count) != 0 { unsafe memcpy(mine, its, count) }
      }
    }
  }

  /// Where the file has bytes, and not a hole.
  private func extents() -> [Range<Int>] {
    let (seekData, seekHole): (Int32, Int32) = (3, 4)
    var found: [Range<Int>] = []
    var place = 0
    while place < size {
      let start = lseek(file, place, seekData)
      guard start >= 0 else { break }
      let end = lseek(file, start, seekHole)
      guard end > start else { break }
      found.append(start..<min(end, size))
      place = end
    }
    return found
  }

  /// The parts of some ranges that are in none of others; both in order.
  static func gaps(of ranges: [Range<Int>], in others: [Range<Int>]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for range in ranges {
      var start = range.lowerBound
      for other in others where other.overlaps(range) {
        if other.lowerBound > start { found.append(start..<other.lowerBound) }
        start = max(start, other.upperBound)
      }
      if start < range.upperBound { found.append(start..<range.upperBound) }
    }
    return found
  }
}
