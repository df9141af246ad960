internal import LogStore
internal import LogctlCore

/// `logctl compact`: a new snapshot, and what is no longer needed removed.
struct CompactCommand {
  let session: Session
  private let isDryRun: Bool
  private var pages: UInt64 = 0
  private var records: UInt64 = 0
  private var before: UInt64 = 0
  private var after: UInt64 = 0

  init(_ session: Session) {
    self.session = session
    isDryRun = session.invocation.has("dry-run")
  }

  mutating func run() {
    for page in session.pages() ?? [] where !Interrupt.isRequested {
      do throws(LogStoreError) {
        try compact(page)
      } catch {
        session.fail(error, page: page)
      }
      session.output.flush()
    }
    session.summarize { [self] output in
      output.buffer.member("dryRun", isDryRun)
      output.buffer.member("pages", pages)
      output.buffer.member("records", records)
      output.buffer.member("bytesBefore", before)
      output.buffer.member("bytesAfter", after)
    }
  }

  private mutating func compact(_ path: String) throws(LogStoreError) {
    let progress = ProgressLine(Printable.text(path), on: session.errors)
    defer { progress.finish() }
    var options = PageOptions()
    options.compaction = .manual
    options.onProgress = progress.handler
    let events = EventLog()
    options.onEvent = events.handler
    let page = try Page(path: path, mode: isDryRun ? .readOnly : .readWrite, options: options)
    session.report(page.report.findings, of: path)
    let summary: CompactionSummary
    do throws(LogStoreError) {
      summary =
        isDryRun
        ? try page.compactionEstimate(keep: retention)
        : try page.compact(keep: retention, progress: progress.handler)
    } catch {
      // The first error is the one that counts.
      try? page.close()
      throw error
    }
    try page.close()
    progress.finish()
    session.report(events, of: path)
    pages += 1
    records += summary.records
    before += summary.bytesBefore
    after += summary.bytesAfter
    if session.isJSON { write(summary, of: path) } else { printSummary(summary, of: path) }
  }

  private var retention: Retention? {
    switch session.invocation.value("keep") {
    case nil: nil
    case "none": Retention.none
    case "all": .all
    case .some(let count): .count(Int(count) ?? 0)
    }
  }

  private func printSummary(_ summary: CompactionSummary, of page: String) {
    let style = session.style
    let verb = isDryRun ? "would compact" : style.green("compacted")
    var line = style.bold(Printable.text(page)) + ": \(verb) to generation \(summary.generation), "
    line += Quantity.count(summary.records, "record") + " at LSN \(summary.lsn), "
    line += Quantity.bytes(summary.bytesBefore) + " to " + Quantity.bytes(summary.bytesAfter)
    session.output.line(line)
    let removed = isDryRun ? "would remove " : "removed "
    if !summary.removedFiles.isEmpty { session.output.line("  " + removed + list(summary.removedFiles)) }
    if !summary.keptFiles.isEmpty {
      let kept = (isDryRun ? "would keep " : "kept ") + list(summary.keptFiles)
      session.output.line("  " + kept + " to fall back on")
    }
  }

  private func list(_ files: [String]) -> String { files.map { Printable.text($0) }.joined(separator: ", ") }

  private func write(_ summary: CompactionSummary, of page: String) {
    session.output.buffer.beginLine(schema: session.schema("page"))
    session.output.buffer.member("page", page)
    session.output.buffer.member("dryRun", isDryRun)
    session.output.buffer.member("generation", summary.generation)
    session.output.buffer.member("lsn", summary.lsn)
    session.output.buffer.member("records", summary.records)
    session.output.buffer.member("snapshotBytes", summary.snapshotBytes)
    session.output.buffer.member("bytesBefore", summary.bytesBefore)
    session.output.buffer.member("bytesAfter", summary.bytesAfter)
    session.output.buffer.member("removedFiles", summary.removedFiles)
    session.output.buffer.member("keptFiles", summary.keptFiles)
    session.output.buffer.endLine()
  }
}
