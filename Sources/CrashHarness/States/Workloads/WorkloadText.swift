import LogStore

/// Workloads as text, for the line that replays one: `records absent 1 7: 0 p+a=3.5; 0 sync`.
extension Workload: LosslessStringConvertible {
  var description: String {
    let head = "\(kind.rawValue) \(base.rawValue) \(pages) \(seed)"
    return head + ":" + steps.map { "\($0.page) \($0.step)" }.joined(separator: ";")
  }

  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let head = parts[0].split(separator: " ")
    guard parts.count == 2, head.count == 4, let kind = Kind(rawValue: String(head[0])),
      let base = Base(rawValue: String(head[1])), let pages = Int(head[2]), pages > 0, let seed = UInt64(head[3])
    else { return nil }
    var steps: [Placed] = []
    for piece in parts[1].split(separator: ";") {
      let words = piece.split(separator: " ", maxSplits: 1)
      guard words.count == 2, let page = Int(words[0]), 0..<pages ~= page, let step = Step(String(words[1])) else {
        return nil
      }
      steps.append(Placed(page, step))
    }
    self.init(base: base, kind: kind, pages: pages, steps: steps, seed: seed)
  }
}

extension Step: LosslessStringConvertible {
  var description: String {
    switch self {
    case .write(let operations, let durability): "\(durability) \(Step.text(operations))"
    case .sync: "sync"
    case .compact(let keep): "compact \(Step.text(keep))"
    case .suspend: "suspend"
    case .resume: "resume"
    case .close: "close"
    case .failedClose(let showsOld): "failed-close \(showsOld ? "old" : "new")"
    case .reopen: "reopen"
    case .kill: "kill"
    case .full(let fits, let operations): "full \(fits) \(Step.text(operations))"
    case .failedSync(let showsOld, let operations):
      "failed-sync \(showsOld ? "old" : "new") \(Step.text(operations))"
    case .wait(let seconds): "wait \(seconds)"
    }
  }

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard let verb = words.first else { return nil }
    let rest = Array(words.dropFirst())
    switch verb {
    case "power", "process", "ordered":
      guard let operations = Step.operations(rest) else { return nil }
      self = .write(operations, verb == "power" ? .power : verb == "process" ? .process : .ordered)
    case "sync": self = .sync
    case "compact":
      guard let keep = rest.first.flatMap(Step.retention) else { return nil }
      self = .compact(keep)
    case "suspend": self = .suspend
    case "resume": self = .resume
    case "close": self = .close
    case "failed-close": self = .failedClose(showsOld: rest.first == "old")
    case "reopen": self = .reopen
    case "kill": self = .kill
    case "full":
      guard let fits = rest.first.flatMap(Int.init), let operations = Step.operations(Array(rest.dropFirst())) else {
        return nil
      }
      self = .full(fits: fits, operations)
    case "failed-sync":
      guard let cache = rest.first, let operations = Step.operations(Array(rest.dropFirst())) else { return nil }
      self = .failedSync(showsOld: cache == "old", operations)
    case "wait":
      guard let seconds = rest.first.flatMap(Int.init) else { return nil }
      self = .wait(seconds)
    default: return nil
    }
  }

  private static func text(_ operations: [TableOperation]) -> String {
    operations.map(OperationText.text).joined(separator: " ")
  }

  private static func operations(_ words: [String]) -> [TableOperation]? {
    let operations = words.compactMap(OperationText.operation)
    return operations.count == words.count ? operations : nil
  }

  private static func text(_ keep: Retention) -> String {
    switch keep {
    case .none: "none"
    case .previous: "previous"
    case .all: "all"
    case .count(let count): "\(count)"
    }
  }

  private static func retention(_ text: String) -> Retention? {
    switch text {
    case "none": Retention.none
    case "previous": .previous
    case "all": .all
    default: Int(text).map { .count($0) }
    }
  }
}
