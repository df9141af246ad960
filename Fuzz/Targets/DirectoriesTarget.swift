import LogStoreTesting
import Synchronization

@testable import LogStore

extension FuzzTarget {
  /// A real page, changed in any way: opening it under each policy, `verify` and the reader in Python agree.
  ///
  /// What that means:
  ///
  /// - The state is made out under a policy by opening the page, reading all of the snapshot that it rests on, and all
  ///   records: an error's code, or grade (`clean`, `benign`, `damage`), LSN, records in order, completeness, findings with
  ///   file, range and number of lost operations. The reader in Python, which shares nothing with the engine but SPEC.md,
  ///   makes out the same, to the last byte, under every policy.
  /// - One thing is looser. Where the snapshot is damaged inside, which opening does not read, the engine serves from
  ///   the generations kept before it what it has to, and Python everything: so findings about the files of those are
  ///   Python's alone, as are errors about records that are not read because later ones took their place; and under
  ///   forged checksums, with which two generations can each prove something else, neither has the say. Both report the
  ///   snapshot; LSN and records are the same wherever checksums are worth something.
  /// - `verify` fails with the code with which opening under `salvage` fails, or does not fail and finds what opening
  ///   found, word for word, and perhaps more: about files that opening does not need. What Python calls damage or
  ///   cannot read is damage to `verify`.
  /// - Nothing of all this changes a byte.
  ///
  /// A page with an application's own state is left alone: only the application can read it.
  static let directories = FuzzTarget(name: "directories") { bytes in
    let page = EditedPage(bytes, from: try PageCorpus.golden.get())
    try Readers(page).agree()
  }
}

private struct Readers {
  let page: EditedPage
  let storage = SimulatedStorage(seed: 1)
  private static let path = "/page"

  init(_ page: EditedPage) {
    self.page = page
    storage.makeDirectory(Readers.path)
    for (name, bytes) in page.files.sorted(by: { $0.key < $1.key }) {
      let path = Readers.path + "/" + name
      if let bytes { storage.place(bytes, at: path) } else { storage.makeDirectory(path) }
    }
  }

  func agree() throws {
    let before = storage.files(in: Readers.path)
    let python = try Readers.python(page.files).map(PageVerdict.init(line:))
    for (policy, theirs) in zip(PageVerdict.policies, python) {
      let ours = try made(policy)
      guard ours.verdict.error != LogStoreError.Code.wrongState.description else { return }
      try compare(ours, theirs, policy)
      if policy == .salvage { try verify(ours, theirs) }
    }
    try demand(storage.files(in: Readers.path) == before, "reading changed a file")
  }

  // MARK: Opening

  private struct Made {
    var verdict: PageVerdict
    /// What opening said; nil where it failed.
    var report: RecoveryReport?
    /// The snapshot, where it is damaged inside.
    var damaged: String?
  }

  private func made(_ policy: RecoveryPolicy) throws -> Made {
    var made = Made(verdict: PageVerdict())
    if let error = try refusal({ try make(policy, &made) }) {
      // To somebody who only reads, a page that is still to be made is none.
      made.verdict = error.code == .notFound ? PageVerdict() : PageVerdict(error: error)
    }
    return made
  }

  private func make(_ policy: RecoveryPolicy, _ made: inout Made) throws {
    var options = PageOptions()
    options.storage = storage
    options.policy = policy
    options.cacheBytes = 16 << 10
    let page = try Page(path: Readers.path, mode: .readOnly, options: options)
    made.report = page.report
    let view = try page.view()
    var inside: Finding?
    if let base = view.base {
      inside = try base.reader.verifyAll().first
      if inside != nil { made.damaged = base.reader.name }
    }
    if inside != nil, policy == .strict { throw LogStoreError(.damaged, "the snapshot is damaged inside") }
    made.verdict = PageVerdict(page.report, and: inside, lsn: page.position.lsn)
    var digest = RecordDigest()
    try view.forEach { key, value in
      digest.add(key.array, value.array)
      return true
    }
    made.verdict.records = digest.count
    made.verdict.digest = digest.value
    try page.close()
  }

  // MARK: Comparing

  private func compare(_ ours: Made, _ theirs: PageVerdict, _ policy: RecoveryPolicy) throws {
    let said = "\(policy): the engine says \(ours.verdict), Python \(theirs)"
    // Who is strict may stop at the first fault, and so not come to what is of a newer version.
    if policy == .strict, ours.verdict.error == "damaged", theirs.error == "newerVersion" { return }
    guard let damaged = ours.damaged else { return try demand(ours.verdict == theirs, said) }
    try demand(
      theirs.error == "damaged" || theirs.findings.contains { $0.hasPrefix("damaged-snapshot \(damaged) ") }, said)
    // What nobody has read because it was written anew is no error to the engine.
    guard !page.isForged, theirs.error == nil || ours.verdict.error != nil else { return }
    try demand(
      (ours.verdict.error, ours.verdict.grade) == (theirs.error, theirs.grade)
        && (ours.verdict.lsn, ours.verdict.records, ours.verdict.digest) == (theirs.lsn, theirs.records, theirs.digest),
      said)
  }

  private func verify(_ opened: Made, _ theirs: PageVerdict) throws {
    var verified: VerificationReport?
    let error = try refusal {
      verified = try PageInspector(path: Readers.path, storage: storage).verify()
    }
    guard let verified else {
      let code = error?.code
      // It reads files that opening does not need, and finds out before anybody reads a record what nobody can read.
      return try demand(
        code?.description == opened.verdict.error ?? "not found" || code == .notFound && theirs == PageVerdict(),
        "verify fails with \(String(describing: error)), opening says \(opened.verdict)")
    }
    if let report = opened.report {
      try demand(
        verified.recovery == report && verified.findings.starts(with: report.findings),
        "verify finds \(verified.findings), opening \(report.findings)")
    }
    if theirs.error != nil || theirs.grade == "damage" {
      try demand(verified.severity == .damage, "verify finds \(verified.findings), Python says \(theirs)")
    }
    // Replay may need records of a snapshot that is damaged inside.
    try demand(
      opened.report != nil || opened.verdict.error == "damaged" && verified.severity == .damage,
      "verify accepts what opening refuses: \(opened.verdict)")
  }

  /// Started with the first page.
  private static let python = Mutex<PythonReader?>(nil)

  private static func python(_ files: PageCorpus.Files) throws -> [String] {
    try python.withLock { reader in
      let running = try reader ?? PythonReader()
      reader = running
      return try running.verdicts(on: files)
    }
  }
}
