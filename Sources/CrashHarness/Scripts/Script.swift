import LogStore
import LogStoreTesting

/// What is done to a page, step by step.
struct Script: CustomStringConvertible {
  enum Step: CustomStringConvertible {
    case write([TableOperation], Durability)
    case sync
    case compact(Retention)
    case recover
    case suspend
    case resume
    /// Close the page and open it again.
    case reopen
    /// Let go of the page without closing it, as when the process is killed, and open it again.
    case kill
    case close
    /// Seconds that go by.
    case wait(Int)
    case view

    var description: String {
      switch self {
      case .write(let operations, let durability):
        "\(durability)[\(operations.map(\.description).joined(separator: ", "))]"
      case .compact(let keep): "compact(\(keep))"
      case .wait(let seconds): "wait(\(seconds))"
      case .sync: "sync"
      case .recover: "recover"
      case .suspend: "suspend"
      case .resume: "resume"
      case .reopen: "reopen"
      case .kill: "kill"
      case .close: "close"
      case .view: "view"
      }
    }
  }

  var steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }

  var description: String { steps.map(\.description).joined(separator: "; ") }

  /// A script that a seed decides.
  init(seed: UInt64, steps count: Int, kills: Bool = true) {
    var random = SeededRandom(seed: seed)
    var steps: [Step] = []
    for _ in 0..<count {
      switch random.next() % 20 {
      case 0...10:
        steps.append(
          .write(Script.batch(&random), [.process, .ordered, .power, .power].randomElement(using: &random)!))
      case 11: steps.append(.sync)
      case 12, 13: steps.append(.compact([.none, .previous, .count(2), .all].randomElement(using: &random)!))
      case 14: steps += [.suspend, .resume]
      case 15: steps.append(.reopen)
      case 16, 17: steps.append(kills ? .kill : .sync)
      case 18: steps.append(.wait([1, 2, 700].randomElement(using: &random)!))
      default: steps.append(.view)
      }
    }
    self.steps = steps
  }

  static func batch(_ random: inout SeededRandom) -> [TableOperation] {
    (0..<(random.next() % 3 == 0 ? Int.random(in: 2...4, using: &random) : 1)).map { _ in operation(&random) }
  }

  private static func operation(_ random: inout SeededRandom) -> TableOperation {
    let (key, other) = (key(&random), key(&random))
    switch random.next() % 16 {
    case 0...7: return .put(key, value(&random))
    case 8, 9: return .putBefore(key, other, value(&random))
    case 10, 11: return .remove(key)
    case 12, 13: return .move(key, other)
    case 14: return .moveToEnd(key)
    default: return random.next() % 4 == 0 ? .clear : .put(key, value(&random))
    }
  }

  private static func key(_ random: inout SeededRandom) -> [UInt8] { Array("k\(random.next() % 7)".utf8) }

  private static func value(_ random: inout SeededRandom) -> [UInt8] {
    let length: Int
    switch random.next() % 12 {
    case 0: length = 0
    case 1: length = Int.random(in: 1000...6000, using: &random)
    default: length = Int.random(in: 1...60, using: &random)
    }
    let seed = random.next()
    return (0..<length).map { UInt8(truncatingIfNeeded: (seed >> UInt64($0 % 8 * 8)) &+ UInt64($0)) }
  }
}
