internal import LogctlCore

/// What an import did, and where its time went.
struct ImportStatistics {
  var lines: UInt64 = 0
  var batches: UInt64 = 0
  var operations: UInt64 = 0
  /// Bytes of input.
  var bytes: UInt64 = 0
  /// Nanoseconds spent on reading the input, on its JSON, inside the engine (opening, writing, syncing, closing), and
  /// altogether.
  var reading: UInt64 = 0
  var parsing: UInt64 = 0
  var engine: UInt64 = 0
  var total: UInt64 = 0

  func lines(into page: String) -> [String] {
    func time(_ value: UInt64) -> String { Quantity.duration(nanoseconds: value) }
    var done = "\(page): imported " + Quantity.count(operations, "operation") + " in "
    done += Quantity.count(batches, "batch", plural: "batches") + " from " + Quantity.count(lines, "line")
    done += ", " + Quantity.bytes(bytes)
    return [
      done,
      "  \(time(total)): \(time(engine)) engine, \(time(parsing)) parsing, \(time(reading)) reading the input",
    ]
  }

  func write(to output: Output) {
    output.buffer.member("lines", lines)
    output.buffer.member("batches", batches)
    output.buffer.member("operations", operations)
    output.buffer.member("bytes", bytes)
    output.buffer.member("readingSeconds", seconds: reading)
    output.buffer.member("parsingSeconds", seconds: parsing)
    output.buffer.member("engineSeconds", seconds: engine)
  }
}
