import LogStore
import LogStoreTesting

/// Those who read a page without opening it for writing: a reader, and the inspector.
struct Readers {
  private var reader: (lsn: UInt64, print: Fingerprint, hasDamage: Bool)?
  private var report: VerificationReport?

  /// Reads the page at `path` in both ways. Where there is none, both have to say so.
  init(_ kind: Workload.Kind, _ storage: SimulatedStorage, _ path: String) throws {
    do throws(LogStoreError) {
      let page = try OpenPage(kind, storage, path, .readOnly)
      do {
        reader = (page.lsn, try page.fingerprint(), page.report.hasDamage)
      } catch {
        throw LogStoreError(.io, "a reader opens the page and cannot read it: \(error)")
      }
    } catch {
      guard error.code == .notFound else { throw error }
    }
    do throws(LogStoreError) {
      report = try PageInspector(path: path, storage: storage).verify()
    } catch {
      guard error.code == .notFound else { throw error }
    }
  }

  /// How what they saw differs from what a writer sees; nil if it does not.
  func disagreement(with lsn: UInt64, _ print: Fingerprint) -> String? {
    guard let reader, let report else {
      if lsn == 0, reader == nil, report == nil { return nil }
      return
        "there is \(reader == nil ? "no page" : "a page") for a reader, \(report == nil ? "none" : "one") for verify"
    }
    guard reader.lsn == lsn, reader.print == print else {
      return "a reader shows another state than a writer: LSN \(reader.lsn) instead of \(lsn)"
    }
    guard report.recovery.position.lsn == lsn else {
      return "verify says LSN \(report.recovery.position.lsn), opening \(lsn)"
    }
    if reader.hasDamage { return "a reader reports damage after a mere crash" }
    if let damage = report.findings.first(where: { $0.severity == .damage }) {
      return "verify reports damage after a mere crash: \(damage)"
    }
    return nil
  }
}
