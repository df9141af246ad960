internal import LogStore
internal import LogctlCore

/// `logctl forget`: drops recorded losses, once somebody has agreed.
struct ForgetCommand {
  let session: Session
  private var pages: UInt64 = 0
  private var losses: UInt64 = 0

  init(_ session: Session) { self.session = session }

  mutating func run() {
    for page in session.pages() ?? [] where !session.isOver {
      do throws(LogStoreError) {
        try forget(page)
      } catch {
        session.fail(error, page: page)
      }
      session.output.flush()
    }
    session.summarize { [self] output in
      output.buffer.member("pages", pages)
      output.buffer.member("losses", losses)
    }
  }

  private mutating func forget(_ path: String) throws(LogStoreError) {
    let progress = ProgressLine(Printable.text(path), on: session.errors)
    defer { progress.finish() }
    var options = PageOptions()
    options.compaction = .manual
    options.onProgress = progress.handler
    let events = EventLog()
    options.onEvent = events.handler
    if !session.invocation.has("yes") {
      let page = try Page(path: path, mode: .readOnly, options: options)
      progress.finish()
      let recorded = page.report.findings.filter { $0.kind == .recordedLoss }
      try page.close()
      if !recorded.isEmpty {
        guard agrees(to: recorded, path) else { return }
      }
    }
    let page = try Page(path: path, mode: .readWrite, options: options)
    let found = page.report.findings.filter { $0.kind != .recordedLoss }
    session.report(found, of: path)
    let dropped: [Finding]
    do throws(LogStoreError) {
      dropped =
        page.report.findings.contains { $0.kind == .recordedLoss }
        ? try page.forgetLosses(progress: progress.handler) : []
    } catch {
      // The first error is the one that counts.
      try? page.close()
      throw error
    }
    try page.close()
    progress.finish()
    session.report(events, of: path)
    pages += 1
    losses += UInt64(dropped.count)
    if session.isJSON {
      for loss in dropped { loss.write(to: session.output, schema: session.schema("loss"), page: path) }
      return
    }
    let name = session.style.bold(Printable.text(path))
    session.output.line(
      dropped.isEmpty
        ? name + ": no losses are on record"
        : name + ": forgot " + Quantity.count(UInt64(dropped.count), "recorded loss", plural: "recorded losses"))
  }

  /// Shows the losses, so that whoever agrees knows to what, and asks on the terminal.
  private func agrees(to recorded: [Finding], _ path: String) -> Bool {
    for loss in recorded { session.show(loss, of: path, heading: "") }
    guard Descriptor.input.isTerminal else {
      session.fail(
        .usage,
        "\(Printable.text(path)) has "
          + Quantity.count(UInt64(recorded.count), "recorded loss", plural: "recorded losses")
          + "; give --yes to drop what is on record where nobody can be asked", page: path)
      return false
    }
    let count = Quantity.count(UInt64(recorded.count), "recorded loss", plural: "recorded losses")
    session.errors.text("Forget \(count) of \(Printable.text(path))? [y/N] ")
    var input = LineInput(.input, capacity: 1024)
    var answer: [UInt8] = []
    while true {
      if let line = input.next() {
        answer = unsafe Array(input.buffer[line])
        break
      }
      if input.isAtEnd || Interrupt.isRequested { break }
      do throws(LineInput.FillError) {
        try input.fill()
      } catch {
        break
      }
    }
    let isAgreed = ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
    if !isAgreed && !Interrupt.isRequested {
      session.fail(.failed, "\(Printable.text(path)): nothing was forgotten", page: path)
    }
    return isAgreed
  }
}
