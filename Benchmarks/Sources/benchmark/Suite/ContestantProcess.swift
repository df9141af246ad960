import Glibc

/// A contestant in a process of its own: its memory is its own, and what others leave behind does not slow it down.
///
/// The two talk in lines: the child says `ready`, is sent the name of a probe for each turn, and answers with a sample.
final class ContestantProcess {
  private let process: Child
  private let what: String

  static let flag = "--contestant"
  static let thisProgram = "/proc/self/exe"

  /// Starts a contestant and waits until it is ready.
  init(_ program: String, _ words: [String]) throws {
    what = words.prefix(2).joined(separator: " of ")
    process = try Child(program, [ContestantProcess.flag] + words)
    guard try process.readLine() == "ready" else { throw Failure("\(what) did not come up") }
  }

  func turn(_ probe: Probe) throws -> Sample {
    try process.write(probe.rawValue)
    guard let line = try process.readLine(), let sample = Sample(line: line) else { throw Failure("\(what) failed") }
    // What every time is taken of counts only in turns that are for it.
    guard probe == .costs || probe == .systemCalls else { return sample }
    return Sample(values: sample.values.filter { $0.key != .time })
  }

  func finish() throws {
    process.closeInput()
    guard try process.wait() else { throw Failure("\(what) failed at its end") }
  }

  /// The child's side: takes its turns until its input ends.
  static func serve(_ words: [String]) throws {
    guard words.count == 4, let size = Scale.Size(rawValue: words[3]) else { throw Failure("which contestant?") }
    let workload = allWorkloads(Scale(size: size)).first { $0.name == words[0] }
    guard let contestant = workload?.contestants.first(where: { $0.name == words[1] }) else {
      throw Failure("there is no \(words[1]) of \(words[0])")
    }
    let prepared = try contestant.prepare(Scratch(at: words[2]))
    say("ready")
    while let line = Swift.readLine() {
      guard let probe = Probe(rawValue: line) else { throw Failure("no probe is called \(line)") }
      say(try prepared.turn(probe).line)
    }
    try prepared.finish()
  }
}
