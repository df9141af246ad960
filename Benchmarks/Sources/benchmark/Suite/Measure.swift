/// What can be measured of a piece of work. Raw values are the names in JSON.
enum Measure: String, CaseIterable {
  /// An operation's, clock to clock.
  case time
  /// Of single operations: half are faster, 99 of 100 are faster, and the slowest of a round.
  case p50, p99, longest
  /// The most memory that the process held while it worked, and what of that came on top of what it held before.
  case peakMemory, addedMemory
  /// Memory that stays, a record, without its key.
  case memoryPerRecord
  /// Calls of the allocator, an operation.
  case allocations
  /// Bytes handed to the system, an operation; and those that it gave to the disk, in whole pages.
  case written, disk
  /// Calls of the system, an operation.
  case systemCalls
  /// Bytes handed to the system for each byte of key or value.
  case amplification
  /// Of a file.
  case size

  enum Unit { case duration, bytes, count, factor }

  var unit: Unit {
    switch self {
    case .time, .p50, .p99, .longest: .duration
    case .peakMemory, .addedMemory, .memoryPerRecord, .written, .disk, .size: .bytes
    case .allocations, .systemCalls: .count
    case .amplification: .factor
    }
  }

  var label: String {
    switch self {
    case .longest: "longest of a round"
    case .peakMemory: "peak memory"
    case .addedMemory: "  above its start"
    case .memoryPerRecord: "memory a record"
    case .written: "bytes written"
    case .disk: "  to disk"
    case .systemCalls: "system calls"
    case .amplification: "written / put"
    default: rawValue
    }
  }

  func text(_ value: Double) -> String {
    switch unit {
    case .duration: duration(value)
    case .bytes: byteText(value)
    case .count: significant(value)
    case .factor: fixed(value, 2)
    }
  }
}
