import Glibc

/// Nanoseconds on a clock that only goes forward.
func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How long `body` takes.
func timed(_ body: () throws -> Void) rethrows -> UInt64 {
  let start = nanoseconds()
  try body()
  return nanoseconds() - start
}
