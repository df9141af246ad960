import CProbe
import Glibc

/// What is looked at in a turn. Whatever slows the work down has turns of its own.
enum Probe: String {
  case time
  /// Each operation's time.
  case latencies
  /// Memory, allocations and bytes written.
  case costs
  case systemCalls

  /// Where to note how long single operations take; nil where that is not asked for.
  func histogram() -> LatencyHistogram? { self == .latencies ? LatencyHistogram() : nil }

  /// Does `work`, which is so many operations, under the probe.
  func observe(_ operations: Int = 1, _ latencies: LatencyHistogram? = nil, work: () throws -> Void) throws -> Sample {
    let count = Double(operations)
    switch self {
    case .time, .latencies:
      var sample = Sample.time(try timed(work), operations)
      sample.latencies = latencies
      return sample
    case .costs:
      let memory = try MemoryUse.startPeak()
      let io = try WrittenBytes.now()
      probe_start_allocations()
      try work()
      let allocations = probe_stop_allocations()
      let written = try WrittenBytes.now() - io
      let peak = try MemoryUse.peak()
      return Sample(values: [
        .allocations: Double(allocations) / count,
        .written: Double(written.handedOver) / count, .disk: Double(written.toDisk) / count,
        .peakMemory: Double(peak), .addedMemory: Double(max(0, peak - memory)),
      ])
    case .systemCalls:
      guard let calls = try SystemCallTrace.count(work) else { return Sample() }
      return Sample(values: [.systemCalls: Double(calls) / count])
    }
  }

  /// Does a step for each index, which is so many operations, and notes each step's time where that is asked for.
  @inline(__always)
  func observeEach(_ steps: Range<Int>, operations: Int = 1, _ body: (Int) throws -> Void) throws -> Sample {
    guard let histogram = histogram() else {
      return try observe(steps.count * operations) { for step in steps { try body(step) } }
    }
    return try observe(steps.count * operations, histogram) { try histogram.recordEach(steps, body) }
  }
}
