internal import LogStore
internal import LogctlCore

/// What a run has come to so far.
struct Verdict {
  /// The first failure.
  private var failure: ExitCode?
  /// The worst finding.
  private(set) var severity: Finding.Severity?

  mutating func fail(_ code: ExitCode) {
    if failure == nil || code == .interrupted { failure = code }
  }

  mutating func find(_ severity: Finding.Severity?) {
    guard let severity else { return }
    self.severity = max(self.severity ?? severity, severity)
  }

  var isFailure: Bool { failure != nil }

  var exitCode: ExitCode { failure ?? ExitCode(severity) }
}

extension ExitCode {
  init(_ severity: Finding.Severity?) {
    switch severity {
    case .damage: self = .damage
    case .benign: self = .benign
    case .note, nil: self = .clean
    }
  }

  init(_ error: LogStoreError) {
    switch error.code {
    case .damaged, .noBase: self = .damage
    case .foreignFile, .newerVersion, .invalidKey, .tooLarge: self = .malformed
    case .notFound: self = .noPage
    case .cannotCreate, .nestedPage: self = .cannotCreate
    case .io, .noSpace, .outcomeUnknown, .unavailable: self = .io
    case .locked: self = .locked
    case .cancelled: self = .interrupted
    default: self = .failed
    }
  }
}
