internal import LogStore
internal import LogctlCore

/// `logctl salvage`: everything readable, into a new page.
struct SalvageCommand {
  let session: Session
  private var pages: UInt64 = 0
  private var records: UInt64 = 0
  private var bytes: UInt64 = 0
  private var lost: UInt64 = 0

  init(_ session: Session) { self.session = session }

  mutating func run() {
    let destination = session.invocation.value("output") ?? ""
    let paths = session.pages() ?? []
    if paths.count > 1 {
      salvage(paths, into: destination)
    } else if let path = paths.first {
      salvage(path, to: destination)
    }
    session.summarize { [self] output in
      output.buffer.member("pages", pages)
      output.buffer.member("records", records)
      output.buffer.member("bytes", bytes)
      output.buffer.member("lostOperations", lost)
    }
  }

  private mutating func salvage(_ paths: [String], into directory: String) {
    do throws(SystemError) {
      try Environment.makeDirectory(directory)
    } catch {
      session.fail(.cannotCreate, "cannot create \(Printable.text(directory)) (\(error.message))", page: session.path)
      return
    }
    for path in paths where !Interrupt.isRequested {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      salvage(path, to: directory + "/" + name)
    }
  }

  private mutating func salvage(_ path: String, to destination: String) {
    let progress = ProgressLine(Printable.text(path), on: session.errors)
    do throws(LogStoreError) {
      let report = try PageInspector(path: path).salvage(to: destination, progress: progress.handler)
      progress.finish()
      pages += 1
      records += report.records
      bytes += report.bytes
      lost = lost.addingCapped(report.findings.lostOperations)
      for finding in report.findings { session.verdict.find(finding.severity) }
      if session.isJSON { write(report, of: path) } else { printReport(report, of: path) }
    } catch {
      progress.finish()
      session.fail(error, page: path)
    }
    session.output.flush()
  }

  private func printReport(_ report: SalvageReport, of path: String) {
    let style = session.style
    var line = style.bold(Printable.text(path)) + ": salvaged " + Quantity.count(report.records, "record")
    line += " (" + Quantity.bytes(report.bytes) + ") to " + Printable.text(report.path)
    let lost = report.findings.lostOperations
    if !report.findings.contains(where: { $0.severity == .damage }) {
      line += ", nothing is missing"
    } else if lost > 0 {
      line += ", " + style.red("at most " + Quantity.count(lost, "operation") + " missing")
    } else {
      line += ", around damage"
    }
    session.output.line(line)
    for finding in report.findings {
      for line in finding.lines(of: path, style, heading: "") { session.output.line("  " + line) }
    }
  }

  private func write(_ report: SalvageReport, of path: String) {
    for finding in report.findings {
      finding.write(to: session.output, schema: session.schema("finding"), page: path)
    }
    session.output.buffer.beginLine(schema: session.schema("page"))
    session.output.buffer.member("page", path)
    session.output.buffer.member("status", ExitCode(report.findings.lazy.map(\.severity).max()).name)
    session.output.buffer.member("output", report.path)
    session.output.buffer.member("records", report.records)
    session.output.buffer.member("bytes", report.bytes)
    session.output.buffer.endLine()
  }
}
