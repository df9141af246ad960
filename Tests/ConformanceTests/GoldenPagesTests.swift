import Foundation
import LogctlCore
import Testing

@testable import LogStore

/// The golden pages, made by an independent writer, and read by an independent reader: the engine agrees with both.
@Suite struct GoldenPagesTests {
  static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Conformance/golden")

  static let cases: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
  }()

  @Test func thereAreGoldenPages() { #expect(GoldenPagesTests.cases.count >= 140) }

  @Test(arguments: cases) func engineAgrees(name: String) throws {
    let expected = try JSONDecoder().decode(
      [String: Verdict].self, from: Data(contentsOf: GoldenPagesTests.directory.appending(path: name + ".json")))
    let path = GoldenPagesTests.directory.appending(path: name).path
    // Version control keeps no empty directory.
    if name == "empty" { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    for policy in RecoveryPolicy.allCases {
      let wanted = try #require(expected[policy.rawValue])
      #expect(Verdict(of: path, policy) == wanted, "\(name), \(policy.rawValue)")
    }
  }

  /// `verify` and opening never disagree: what opening reports, verifying reports too, and neither changes a byte.
  @Test(arguments: cases) func verifyingAndOpeningAgree(name: String) throws {
    let path = GoldenPagesTests.directory.appending(path: name).path
    if name == "empty" { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    let before = try GoldenPagesTests.contents(of: path)
    var opened: Result<RecoveryReport, LogStoreError>
    do throws(LogStoreError) {
      opened = .success(try Page(path: path, mode: .readOnly).report)
    } catch {
      opened = .failure(error)
    }
    do throws(LogStoreError) {
      let verified = try PageInspector(path: path).verify()
      let report = try opened.get()
      #expect(verified.recovery == report)
      #expect(verified.findings.starts(with: report.findings))
      // Where something is damaged that opening has not read, reading it is an error or comes from the kept generation.
      if verified.severity != .damage { #expect(Verdict(of: path, .salvage).verdict != "error") }
    } catch {
      guard case .failure(let other) = opened else { throw error }
      #expect(other.code == error.code)
    }
    #expect(try GoldenPagesTests.contents(of: path) == before)
  }

  static func contents(of path: String) throws -> [String: Data?] {
    var found: [String: Data?] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      found[name] = FileManager.default.contents(atPath: path + "/" + name)
    }
    return found
  }
}

struct Verdict: Codable, Equatable {
  struct Found: Codable, Equatable {
    var kind: String
    var file: String
    var start: UInt64?
    var end: UInt64?
    var lost: UInt64?
  }
  var verdict: String
  var error: String?
  var lsn: UInt64
  var records: Int
  var digest: String
  var incomplete: Bool
  var findings: [Found]

  /// What the engine makes of a page, everything that it needs read.
  init(of path: String, _ policy: RecoveryPolicy) {
    do {
      self = try Verdict.read(path, policy)
    } catch {
      let code = (error as? LogStoreError)?.code.description ?? "\(error)"
      self.init(
        verdict: "error", error: code, lsn: 0, records: 0, digest: "00000000", incomplete: false, findings: [])
    }
  }

  private static func read(_ path: String, _ policy: RecoveryPolicy) throws -> Verdict {
    guard let page = try open(path, policy) else {
      return Verdict(
        verdict: "clean", error: nil, lsn: 0, records: 0, digest: "00000000", incomplete: false, findings: [])
    }
    let view = try page.view()
    var findings = page.report.findings
    if let base = view.base, let first = try base.reader.verifyAll().first {
      guard policy != .strict else { throw LogStoreError(.damaged, "the snapshot is damaged inside") }
      findings.append(first)
    }
    var digest: UInt32 = 0
    try view.forEach { key, value in
      let line = line(key, value)
      digest = unsafe Checksum.update(digest, line.span.bytes)
      return true
    }
    let known: Set<Finding.Kind> = [
      .tornTail, .notClosed, .damagedFrame, .damagedHeader, .damagedSnapshot, .missing, .cutOff, .recordedLoss,
    ]
    let shown = findings.filter { known.contains($0.kind) }
    let hasDamage = shown.contains { $0.severity == .damage }
    try page.close()
    return Verdict(
      verdict: shown.isEmpty ? "clean" : hasDamage ? "damage" : "benign", error: nil, lsn: page.position.lsn,
      records: view.count, digest: String(format: "%08x", digest),
      incomplete: page.report.isIncomplete,
      findings: shown.map {
        Found(
          kind: $0.kind.rawValue, file: $0.file, start: $0.range?.lowerBound,
          end: $0.range.flatMap { $0.upperBound == .max ? nil : $0.upperBound }, lost: $0.lostOperations)
      }.sorted { ($0.file, $0.start ?? 0, $0.kind) < ($1.file, $1.start ?? 0, $1.kind) })
  }

  /// The page; nil for one that is empty to the format: to somebody who only reads there is nothing yet.
  private static func open(_ path: String, _ policy: RecoveryPolicy) throws -> Page? {
    var options = PageOptions()
    options.policy = policy
    do {
      return try Page(path: path, mode: .readOnly, options: options)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
  }

  /// A record as `logctl replay` shows it.
  private static func line(_ key: RawSpan, _ value: RawSpan) -> [UInt8] {
    var line = LogctlCore.ByteBuffer()
    line.beginLine()
    line.member("key", or: "key64", key)
    line.member("value", or: "value64", value)
    line.endLine()
    return line.bytes
  }

  private init(
    verdict: String, error: String?, lsn: UInt64, records: Int, digest: String, incomplete: Bool, findings: [Found]
  ) {
    self.verdict = verdict
    self.error = error
    self.lsn = lsn
    self.records = records
    self.digest = digest
    self.incomplete = incomplete
    self.findings = findings
  }
}
