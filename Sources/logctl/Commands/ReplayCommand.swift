internal import LogStore
internal import LogctlCore

/// `logctl replay`: prints a page's records.
struct ReplayCommand {
  let session: Session
  private var pages: UInt64 = 0
  private var records: UInt64 = 0
  private var bytes: UInt64 = 0

  init(_ session: Session) { self.session = session }

  mutating func run() {
    let paths = session.pages() ?? []
    let areValues = session.invocation.has("values")
    if areValues && paths.count > 1 {
      session.fail(
        .usage,
        "\(Printable.text(session.path)) holds \(paths.count) pages, and --values cannot say which is which; "
          + "name one of them")
    } else {
      for path in paths where !session.isOver {
        do throws(LogStoreError) {
          try replay(path, named: paths.count > 1, values: areValues)
        } catch {
          session.fail(error, page: path)
        }
      }
    }
    session.summarize { [self] output in
      output.buffer.member("pages", pages)
      output.buffer.member("records", records)
      output.buffer.member("bytes", bytes)
    }
  }

  private mutating func replay(_ path: String, named: Bool, values: Bool) throws(LogStoreError) {
    let progress = ProgressLine(Printable.text(path), on: session.errors)
    defer { progress.finish() }
    var options = PageOptions()
    options.policy = session.invocation.value("policy").flatMap(RecoveryPolicy.init)
    options.onProgress = progress.handler
    let events = EventLog()
    options.onEvent = events.handler
    // Records that had to be read from an older generation are known only once they were read.
    defer { session.report(events, of: path) }
    let page = try Page(path: path, mode: .readOnly, options: options, at: moment)
    progress.finish()
    session.report(page.report.findings, of: path)
    pages += 1
    try print(page.view(), of: path, named: named, values: values)
    try page.close()
  }

  private mutating func print(
    _ view: PageView, of path: String, named: Bool, values: Bool
  ) throws(LogStoreError) {
    let progress = ProgressLine(Printable.text(path), on: session.errors, besideRecords: true)
    defer { progress.finish() }
    let output = session.output
    let schema = session.isJSON ? session.schema("record") : nil
    let pageName = named || session.isJSON ? path : nil
    var count: UInt64 = 0
    var bytes: UInt64 = 0
    try rethrowing {
      try view.forEach { key, value in
        if values {
          output.raw(value)
        } else {
          output.buffer.beginLine()
          if let schema { output.buffer.member("schema", schema) }
          if let pageName { output.buffer.member("page", pageName) }
          output.buffer.member("key", or: "key64", key)
          output.member("value", or: "value64", value)
          output.buffer.endLine()
          output.flushIfFull()
        }
        count += 1
        bytes += UInt64(key.byteCount + value.byteCount)
        if count & 0x3FF == 0 { progress.update("printing", bytes, nil) }
        return output.isOpen && !Interrupt.isRequested
      }
    }
    records += count
    self.bytes += bytes
  }

  private var moment: Moment {
    guard let text = session.invocation.value("at") else { return .now }
    if let lsn = UInt64(text) { return .lsn(lsn) }
    return .time(nanoseconds: Timestamp(text)?.nanoseconds ?? 0)
  }
}

/// Calls something that throws nothing but the engine's errors without saying so.
func rethrowing(_ body: () throws -> Void) throws(LogStoreError) {
  do {
    try body()
  } catch let error as LogStoreError {
    throw error
  } catch {
    throw LogStoreError(.io, "The page could not be read: \(error)", cause: error)
  }
}
