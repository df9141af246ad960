import Glibc

/// libFuzzer's way in. The environment variable FUZZ_TARGET names the target.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  do {
    try chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("broken promise: \(error)")
  }
  return 0
}

private let chosen: FuzzTarget = {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget.named(name) else {
    fatalError("FUZZ_TARGET is one of: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
  }
  return target
}()
