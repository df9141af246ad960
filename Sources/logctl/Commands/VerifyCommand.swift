internal import LogStore
internal import LogctlCore

/// `logctl verify`: reads everything, changes nothing.
struct VerifyCommand {
  let session: Session
  private var totals = Totals()

  private struct Totals {
    var pages: UInt64 = 0
    var clean: UInt64 = 0
    var benign: UInt64 = 0
    var damaged: UInt64 = 0
    var failed: UInt64 = 0
    var findings: UInt64 = 0
    var lost: UInt64 = 0
    var files: UInt64 = 0
    var frames: UInt64 = 0
    var bytes: UInt64 = 0
  }

  init(_ session: Session) { self.session = session }

  mutating func run() {
    let pages = session.pages() ?? []
    for page in pages where !Interrupt.isRequested { verify(page) }
    if pages.count > 1 && !session.isJSON { printTotals() }
    session.summarize { [totals] output in
      output.buffer.member("pages", totals.pages)
      output.buffer.member("clean", totals.clean)
      output.buffer.member("benign", totals.benign)
      output.buffer.member("damaged", totals.damaged)
      output.buffer.member("failed", totals.failed)
      output.buffer.member("findings", totals.findings)
      output.buffer.member("lostOperations", totals.lost)
      output.buffer.member("files", totals.files)
      output.buffer.member("frames", totals.frames)
      output.buffer.member("bytes", totals.bytes)
    }
  }

  private mutating func verify(_ page: String) {
    let progress = ProgressLine(Printable.text(page), on: session.errors)
    totals.pages += 1
    do throws(LogStoreError) {
      let report = try PageInspector(path: page).verify(progress: progress.handler)
      progress.finish()
      count(report)
      if session.isJSON { write(report, of: page) } else { printReport(report, of: page) }
    } catch {
      progress.finish()
      totals.failed += 1
      session.fail(error, page: page)
    }
    session.output.flush()
  }

  private mutating func count(_ report: VerificationReport) {
    session.verdict.find(report.severity)
    switch report.severity {
    case .damage: totals.damaged += 1
    case .benign: totals.benign += 1
    case .note, nil: totals.clean += 1
    }
    totals.findings += UInt64(report.findings.count)
    totals.lost = totals.lost.addingCapped(report.lostOperations)
    totals.files += UInt64(report.files)
    totals.frames += report.frames
    totals.bytes += report.bytes
  }

  private func printReport(_ report: VerificationReport, of page: String) {
    let style = session.style
    var line = style.bold(Printable.text(page)) + ": "
    switch report.severity {
    case .damage:
      line += style.red("damaged")
      if report.lostOperations > 0 {
        line += ", at most " + Quantity.count(report.lostOperations, "operation") + " lost"
      }
    case .benign: line += style.yellow("sound") + ", as a crash leaves it; nothing is known to be gone"
    case .note, nil: line += style.green("clean")
    }
    line += " (" + Quantity.count(UInt64(report.files), "file") + ", " + Quantity.count(report.frames, "frame") + ", "
    session.output.line(line + Quantity.bytes(report.bytes) + ", LSN \(report.recovery.position.lsn))")
    for finding in report.findings {
      for line in finding.lines(of: page, style, heading: "") { session.output.line("  " + line) }
    }
  }

  private func write(_ report: VerificationReport, of page: String) {
    for finding in report.findings {
      finding.write(to: session.output, schema: session.schema("finding"), page: page)
    }
    let code = ExitCode(report.severity)
    session.output.buffer.beginLine(schema: session.schema("page"))
    session.output.buffer.member("page", page)
    session.output.buffer.member("status", code.name)
    session.output.buffer.member("position", report.recovery.position.description)
    session.output.buffer.member("lsn", report.recovery.position.lsn)
    session.output.buffer.member("findings", report.findings.count)
    session.output.buffer.member("lostOperations", report.lostOperations)
    session.output.buffer.member("files", report.files)
    session.output.buffer.member("frames", report.frames)
    session.output.buffer.member("bytes", report.bytes)
    session.output.buffer.endLine()
  }

  private func printTotals() {
    var parts: [String] = []
    if totals.clean > 0 { parts.append(Quantity.count(totals.clean) + " clean") }
    if totals.benign > 0 { parts.append(Quantity.count(totals.benign) + " sound") }
    if totals.damaged > 0 { parts.append(Quantity.count(totals.damaged) + " damaged") }
    if totals.failed > 0 { parts.append(Quantity.count(totals.failed) + " not verified") }
    session.output.line(Quantity.count(totals.pages, "page") + ": " + parts.joined(separator: ", "))
  }
}

extension VerificationReport {
  /// How many operations are lost at most.
  var lostOperations: UInt64 { findings.lostOperations }
}
