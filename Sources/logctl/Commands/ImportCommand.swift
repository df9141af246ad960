internal import LogStore
internal import LogctlCore

/// `logctl import`: JSON Lines into a page.
struct ImportCommand {
  let session: Session
  private let linesPerBatch: UInt64
  private let durability: Durability
  private var statistics = ImportStatistics()

  init(_ session: Session) {
    self.session = session
    linesPerBatch = session.invocation.number("batch") ?? 1
    durability =
      switch session.invocation.value("durability") {
      case "power": .power
      case "ordered": .ordered
      default: .process
      }
  }

  mutating func run() {
    let progress = ProgressLine(Printable.text(session.path), on: session.errors)
    do throws(LogStoreError) {
      try importLines(progress)
    } catch {
      progress.finish()
      session.fail(error, page: session.path)
    }
    statistics.total = Environment.now - session.start
    if !session.isJSON && (!session.verdict.isFailure || statistics.lines > 0) {
      for line in statistics.lines(into: Printable.text(session.path)) { session.output.line(line) }
    }
    session.summarize { [statistics] output in statistics.write(to: output) }
  }

  private mutating func importLines(_ progress: ProgressLine) throws(LogStoreError) {
    var options = PageOptions()
    options.durability = durability
    options.onProgress = progress.handler
    let events = EventLog()
    options.onEvent = events.handler
    defer { session.report(events, of: session.path) }
    let opening = Environment.now
    let page = try Page(path: session.path, mode: .create, options: options)
    progress.finish()
    session.report(page.report.findings, of: session.path)
    statistics.engine += Environment.now - opening

    let loader = Loader(page: page, linesPerBatch: linesPerBatch)
    let failure = load(with: loader, progress)
    progress.finish()
    statistics.batches = loader.batches
    statistics.operations = loader.operations

    let closing = Environment.now
    defer { statistics.engine += Environment.now - closing }
    if let failure {
      report(failure)
      if case .engine = failure {
        // The first error is the one that counts.
        try? page.close()
        return
      }
    }
    if durability == .process && loader.batches > 0 { try page.sync() }
    try page.close()
  }

  /// Parses a few hundred lines, writes them, and so on: the clock is read for each such group, not for each line.
  private mutating func load(with loader: Loader, _ progress: ProgressLine) -> ImportFailure? {
    var input = LineInput(.input)
    let total = Descriptor.input.remainingBytes
    var operations: [LineOperation] = []
    operations.reserveCapacity(512)
    while !Interrupt.isRequested {
      let parsing = Environment.now
      var failure: ImportFailure?
      operations.removeAll(keepingCapacity: true)
      let linesBefore = statistics.lines
      while operations.count < 512, let line = input.next() {
        statistics.lines += 1
        do throws(LineError) {
          guard var operation = try unsafe LineParser.parse(input.buffer, in: line) else { continue }
          operation.line = statistics.lines
          operations.append(operation)
        } catch {
          failure = .line(statistics.lines, error)
          break
        }
      }
      let writing = Environment.now
      statistics.parsing += writing - parsing
      do throws(ImportFailure) {
        try unsafe loader.add(operations, from: UnsafeRawBufferPointer(input.buffer))
        if failure == nil && operations.isEmpty && input.isAtEnd { try loader.finish() }
      } catch {
        failure = error
      }
      let reading = Environment.now
      statistics.engine += reading - writing
      if let failure { return failure }
      guard statistics.lines == linesBefore else { continue }

      if input.isAtEnd { return nil }
      do throws(LineInput.FillError) {
        try input.fill()
      } catch {
        switch error {
        case .system(let error): return .input(error)
        case .lineTooLong: return .lineTooLong(statistics.lines + 1)
        }
      }
      statistics.bytes = input.bytesRead
      statistics.reading += Environment.now - reading
      progress.update("importing", input.bytesRead, total)
    }
    return nil
  }

  private mutating func report(_ failure: ImportFailure) {
    switch failure {
    case .line(let number, let error):
      session.fail(.malformed, "line \(number), column \(error.column): \(error)", page: session.path)
    case .refused(let number, let error):
      // Lines behind it were parsed, and are not part of what was done.
      statistics.lines = number
      session.fail(.malformed, "line \(number): \(error.message)", page: session.path, error)
    case .lineTooLong(let number):
      session.fail(.malformed, "line \(number) is longer than \(Quantity.bytes(UInt64(LineInput.longestLine)))")
    case .input(let error):
      session.fail(.io, "cannot read standard input: \(error.message)")
    case .engine(let error):
      session.fail(error, page: session.path)
    }
  }
}

/// Why an import ended before its input did.
enum ImportFailure: Error {
  /// The line is no operation.
  case line(UInt64, LineError)
  /// The line is one, and the engine's limits do not allow it.
  case refused(UInt64, LogStoreError)
  case lineTooLong(UInt64)
  case input(SystemError)
  case engine(LogStoreError)
}
