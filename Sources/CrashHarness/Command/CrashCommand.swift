import Glibc
import Synchronization

/// `crash`: runs the tiers, and prints a table of what they have seen.
package enum CrashCommand {
  static var tiers: [any Tier.Type] { [FaultTier.self, StatesTier.self, KillTier.self, BlockTier.self] }

  static let usage = """
    USAGE: crash [TIER ...] [--seconds N | --ci] [--seed N] [--workers N] [--stop-at-first]
           crash replay CASE
           crash list
    """

  /// - Returns: the exit code: 0, 1 where something did not hold, 64 for usage.
  package static func run(_ arguments: [String]) -> Int32 {
    if let mode = arguments.first, let child = ChildModes.named(mode) { return child(Array(arguments.dropFirst())) }
    switch arguments.first {
    case "list":
      for tier in tiers { say("\(tier.name)  \(tier.summary)") }
      return 0
    case "replay": return replay(arguments.dropFirst().joined(separator: " "))
    case "help", "--help", "-h":
      say(usage)
      return 0
    default:
      do {
        return try explore(Options(arguments))
      } catch {
        complain("\(error.text)\n\(usage)")
        return 64
      }
    }
  }

  private static func explore(_ options: Options) -> Int32 {
    let chosen = tiers.filter { options.tiers.isEmpty || options.tiers.contains($0.name) }
    var shares = chosen.reduce(0) { $0 + $1.share }
    let tally = Tally {
      tell($0)
      if options.stopsAtFirst { Plan.isEnoughFound.store(true, ordering: .relaxed) }
    }
    let whole = Plan(options.extent, seed: options.seed, workers: options.workers)
    var failed = false
    for tier in chosen {
      say("== \(tier.name): \(tier.summary)")
      do {
        try tier.init().run(whole.part(tier.share / shares), tally)
      } catch {
        complain("\(tier.name) could not go on: \(error)")
        failed = true
      }
      shares -= tier.share
    }
    say(Table(tally.rows).text)
    return failed || tally.rows.contains { $0.violations > 0 } ? 1 : 0
  }

  /// Prints a violation, and the line that shows it again.
  static func tell(_ violation: Violation, _ front: String = "") {
    complain(front + violation.what + (violation.replay.map { "\n  crash replay '\($0)'" } ?? ""))
  }

  private static func replay(_ text: String) -> Int32 {
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, let tier = tiers.first(where: { $0.name == parts[0] }) else {
      complain("no such tier: \(parts.first ?? "")")
      return 64
    }
    do {
      guard let violation = try tier.init().replay(parts[1]) else {
        say("holds")
        return 0
      }
      say(violation.what)
    } catch {
      complain("cannot replay: \(error)")
    }
    return 1
  }

  /// To standard output, whole lines at once.
  static func say(_ text: String) { put(text, on: 1) }

  static func complain(_ text: String) { put(text, on: 2) }

  private static func put(_ text: String, on descriptor: Int32) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
  }

  struct Options {
    struct Fault: Error { var text: String }

    var tiers: Set<String> = []
    var extent = Plan.Extent.seconds(60)
    var seed: UInt64 = 1
    /// Whether one violation is enough: for whoever asks only whether there is one.
    var stopsAtFirst = false
    var workers = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    init(_ arguments: [String]) throws(Fault) {
      var left = arguments[...]
      while let argument = left.popFirst() {
        switch argument {
        case "--ci": extent = .ci
        case "--seconds": extent = .seconds(try Options.number(argument, left.popFirst()))
        case "--seed": seed = UInt64(try Options.number(argument, left.popFirst()))
        case "--workers": workers = max(1, Int(try Options.number(argument, left.popFirst())))
        case "--stop-at-first": stopsAtFirst = true
        case "all": break
        default:
          guard CrashCommand.tiers.contains(where: { $0.name == argument }) else {
            throw Fault(text: "no such tier or option: \(argument)")
          }
          tiers.insert(argument)
        }
      }
    }

    private static func number(_ name: String, _ text: String?) throws(Fault) -> Double {
      guard let text, let number = Double(text), number >= 0, number < 1e15 else {
        throw Fault(text: "\(name) needs a number")
      }
      return number
    }
  }
}

/// What this program does when it is run by itself as a child.
enum ChildModes {
  static func named(_ name: String) -> (([String]) -> Int32)? {
    switch name {
    case KilledChild.mode: KilledChild.run
    case GuardedFolder.mode: GuardedFolder.run
    case RecordingDisk.mode: RecordingDisk.run
    default: nil
    }
  }
}
