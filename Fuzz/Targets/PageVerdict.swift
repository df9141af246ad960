@testable import LogStore

/// What a reader makes of a page under one policy.
struct PageVerdict: Equatable, CustomStringConvertible {
  /// The code of the error that there is instead of a state.
  var error: String?
  /// `clean`, `benign` or `damage`.
  var grade = ""
  var lsn: UInt64 = 0
  var records = 0
  /// Of all records in order.
  var digest: UInt32 = 0
  var isIncomplete = false
  /// Kind, file, first byte, end, operations lost; sorted.
  var findings: [String] = []

  static let policies: [RecoveryPolicy] = [.salvage, .strict, .pointInTime]

  var description: String {
    error.map { "error \($0)" }
      ?? "\(grade), LSN \(lsn), \(records) records (\(digest)), \(isIncomplete ? "in" : "")complete, \(findings)"
  }

  /// As the reader in Python writes it.
  init(line: String) throws {
    let members = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    if members.count == 2, members[0] == "error" {
      error = members[1]
      return
    }
    guard members.count >= 5, let lsn = UInt64(members[1]), let records = Int(members[2]),
      let digest = UInt32(members[3])
    else { throw Broken("the reader in Python answers: \(line)") }
    grade = members[0]
    self.lsn = lsn
    self.records = records
    self.digest = digest
    isIncomplete = members[4] == "1"
    findings = Array(members[5...])
  }

  init(error: LogStoreError) { self.error = error.code.description }

  /// Of a page that is still to be made.
  init() { grade = "clean" }

  init(_ report: RecoveryReport, and more: Finding?, lsn: UInt64) {
    let known: Set<Finding.Kind> = [
      .tornTail, .notClosed, .damagedFrame, .damagedHeader, .damagedSnapshot, .missing, .cutOff, .recordedLoss,
    ]
    let found = (report.findings + (more.map { [$0] } ?? [])).filter { known.contains($0.kind) }
    grade = found.isEmpty ? "clean" : found.contains { $0.severity == .damage } ? "damage" : "benign"
    self.lsn = lsn
    isIncomplete = report.isIncomplete
    findings = Set(found.map(PageVerdict.text)).sorted()
  }

  private static func text(_ finding: Finding) -> String {
    func text(_ number: UInt64?) -> String { number.map(String.init) ?? "-" }
    let end = finding.range.flatMap { $0.upperBound == .max ? nil : $0.upperBound }
    return
      "\(finding.kind.rawValue) \(finding.file) \(text(finding.range?.lowerBound)) \(text(end)) \(text(finding.lostOperations))"
  }
}

/// A digest over records, as the reader in Python makes it.
struct RecordDigest {
  private(set) var count = 0
  private(set) var value: UInt32 = 0

  mutating func add(_ key: [UInt8], _ value: [UInt8]) {
    count += 1
    var bytes: [UInt8] = []
    for length in [key.count, value.count] {
      for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * place))) }
    }
    bytes += key + value
    self.value = unsafe Checksum.update(self.value, bytes.span.bytes)
  }
}
