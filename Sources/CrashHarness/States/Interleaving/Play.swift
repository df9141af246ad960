import LogStore
import LogStoreTesting

/// What several threads do to one page at the same time, each its own steps in order.
struct Play: Equatable {
  enum Action: Equatable {
    /// A write, sync or compaction, on the open page.
    case step(Step)
    /// A view of the open page.
    case view
    /// A reader of its own, without the lock: opens the page the first time, then looks again.
    case look
  }

  struct Part: Equatable {
    /// The thread's name, a letter.
    var name: Character
    var actions: [Action]
  }

  var base = Workload.Base.compacted
  var parts: [Part]
  var seed: UInt64 = 1

  /// A play that a seed decides: two or three writers, a compactor, readers inside and outside.
  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    self.seed = seed
    base = random.next() % 3 == 0 ? .absent : .compacted
    parts = []
    for (number, name) in ["a", "b", "d"].prefix(Int.random(in: 1...3, using: &random)).enumerated() {
      var actions = (0..<Int.random(in: 1...3, using: &random)).map { round in
        Play.write(writer: number, round: round, &random)
      }
      if syncsBeside { actions = actions.map(Play.leftToTheEngine) + [.step(.sync)] }
      parts.append(Part(name: Character(name), actions: actions))
    }
    if random.next() % 4 != 0 {
      let keeps: [Retention] = [.none, .none, .previous]
      let count = Int.random(in: 1...2, using: &random)
      parts.append(
        Part(
          name: "c", actions: (0..<count).map { _ in .step(.compact(keeps.randomElement(using: &random) ?? .none)) }))
    }
    if random.next() % 2 == 0 { parts.append(Part(name: "r", actions: Array(repeating: .view, count: 3))) }
    if random.next() % 2 == 0 { parts.append(Part(name: "o", actions: Array(repeating: .look, count: 4))) }
  }

  init(base: Workload.Base, seed: UInt64, parts: [Part]) {
    self.base = base
    self.seed = seed
    self.parts = parts
  }

  /// Whether the engine syncs by itself, beside the writers.
  var syncsBeside: Bool { seed % 3 == 0 }

  /// Whether the engine reads a new snapshot back in a thread of its own, beside the compactor's writing.
  var readsBackBeside: Bool { seed % 2 == 1 }

  private static func leftToTheEngine(_ action: Action) -> Action {
    guard case .step(.write(let operations, _)) = action else { return action }
    return .step(.write(operations, .process))
  }

  private static func write(writer: Int, round: Int, _ random: inout SeededRandom) -> Action {
    let tag = UInt64(writer * 16 + round + 1)
    var operations: [TableOperation] = [.put(Array("w\(writer)\(round)".utf8), OperationText.value(4, tag: tag))]
    switch random.next() % 6 {
    case 0: operations.append(.put(Array("both".utf8), OperationText.value(6, tag: tag)))
    case 1: operations.append(.remove(Array("k0".utf8)))
    case 2: operations.append(.put(Array("long".utf8), OperationText.value(70, tag: tag)))
    case 3 where round > 0: return .step(.sync)
    default: break
    }
    let levels: [Durability] = [.process, .process, .ordered, .power, .power]
    return .step(.write(operations, levels.randomElement(using: &random) ?? .power))
  }
}

extension Play: LosslessStringConvertible {
  var description: String {
    "play \(base.rawValue) \(seed):"
      + parts.map { part in
        "\(part.name) " + part.actions.map(Play.text).joined(separator: ";")
      }.joined(separator: "/")
  }

  init?(_ text: String) {
    let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let head = sides[0].split(separator: " ")
    guard sides.count == 2, head.count == 3, head[0] == "play", let base = Workload.Base(rawValue: String(head[1])),
      let seed = UInt64(head[2])
    else { return nil }
    var parts: [Part] = []
    for piece in sides[1].split(separator: "/") {
      guard let name = piece.first, name != Turnstile.engine else { return nil }
      let words = piece.dropFirst().split(separator: ";").map { $0.drop(while: { $0 == " " }) }
      let actions = words.compactMap { Play.action(String($0)) }
      guard actions.count == words.count else { return nil }
      parts.append(Part(name: name, actions: actions))
    }
    self.init(base: base, seed: seed, parts: parts)
  }

  private static func text(_ action: Action) -> String {
    switch action {
    case .step(let step): "\(step)"
    case .view: "view"
    case .look: "look"
    }
  }

  private static func action(_ text: String) -> Action? {
    switch text {
    case "view": .view
    case "look": .look
    default: Step(text).map { .step($0) }
    }
  }
}
