import Glibc
import Synchronization

/// Words in a file that several processes have in memory at once: what one has stored is there even if it is killed next.
///
/// Invariant behind the unchecked conformance: the memory is mapped as long as the object lives, and every access to it
/// is atomic.
@safe
final class SharedWords: @unchecked Sendable {
  let count: Int
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// - Throws: where the file cannot be made or mapped.
  init(_ path: String, count: Int) throws(SystemFault) {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw SystemFault("opening \(path)") }
    defer { Glibc.close(file) }
    guard ftruncate(file, count * 8) == 0 else { throw SystemFault("extending \(path)") }
    let memory = unsafe mmap(nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw SystemFault("mapping \(path)") }
    unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    self.count = count
  }

  deinit { unsafe munmap(words, count * 8) }

  subscript(place: Int) -> UInt64 {
    get {
      precondition(0..<count ~= place)
      return unsafe words[place].load(ordering: .acquiring)
    }
    set {
      precondition(0..<count ~= place)
      unsafe words[place].store(newValue, ordering: .sequentiallyConsistent)
    }
  }
}
