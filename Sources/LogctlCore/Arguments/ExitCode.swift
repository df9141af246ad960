/// How a run ended, for whoever started it.
package enum ExitCode: Int32, Sendable {
  case clean = 0
  case failed = 1
  case damage = 2
  case benign = 3
  case usage = 64
  case malformed = 65
  case noPage = 66
  case cannotCreate = 73
  case io = 74
  case locked = 75
  case interrupted = 130

  /// The code's name in JSON.
  package var name: String {
    switch self {
    case .clean: "clean"
    case .failed: "failed"
    case .damage: "damage"
    case .benign: "benign"
    case .usage: "usage"
    case .malformed: "malformed"
    case .noPage: "no-page"
    case .cannotCreate: "cannot-create"
    case .io: "io"
    case .locked: "locked"
    case .interrupted: "interrupted"
    }
  }
}
