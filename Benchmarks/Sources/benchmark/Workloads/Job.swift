import Glibc

/// Work in a fresh process, so that opening is measured as a program meets it: new memory, nothing cached but the
/// system's pages. The clock runs inside, around the work, so that starting and ending the process does not count.
enum Job {
  static let flag = "--job"

  /// Has a child do the job that the words name.
  static func run(_ words: [String], _ probe: Probe = .time) throws -> Sample {
    let child = try Child(ContestantProcess.thisProgram, [flag, probe.rawValue] + words)
    let line = try child.readLine()
    guard try child.wait(), let line, let sample = Sample(line: line) else { throw Failure("the job \(words) failed") }
    return sample
  }

  /// The child's side.
  static func serve(_ words: [String]) throws {
    guard words.count >= 3, let probe = Probe(rawValue: words[0]) else { throw Failure("a job needs a probe and more") }
    say(try run(words[1], Array(words.dropFirst(2)), probe).line)
  }

  private static func run(_ job: String, _ words: [String], _ probe: Probe) throws -> Sample {
    switch job {
    case "checksum":
      return try probe.observe { try PlainFile(words[0], flags: O_RDONLY).checksum() }
    case "pieces":
      let read = {
        let file = try PlainFile(words[0], flags: O_RDONLY)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)
        defer { buffer.deallocate() }
        for piece in 1...4 { _ = try file.read(into: buffer, at: piece << 20) }
      }
      // The program's code, once read in, is not memory that the work takes.
      if probe == .costs { try read() }
      return try probe.observe(work: read)
    case "state":
      let kind = try store(named: words[0])
      return try observeOpening(probe) {
        let store = try kind.init(words[1], Setup(keepsJournal: true))
        if let logStore = store as? LogStoreStore {
          try logStore.takeView()
        } else {
          guard try store.get(Records.key(1)) != nil else { throw Failure("the record is not there") }
        }
        return store
      }
    case "value":
      let kind = try store(named: words[0])
      let key = Records.key(try number(words, 2))
      let open = {
        let store = try kind.init(words[1], Setup(isReadOnly: true))
        guard try store.get(key) == Records().valueBytes else { throw Failure("the record is not there") }
        return store
      }
      // As above.
      if probe == .costs { try open().close() }
      return try observeOpening(probe, open)
    case "overlay": return try overlay(words[0], try number(words, 1))
    case "fill":
      let store = try store(named: words[0]).init(words[1], Setup(keepsJournal: true))
      try store.load(try number(words, 2))
      // Closing would fold the log.
      say(Sample().line)
      _exit(0)
    default: throw Failure("no job is called \(job)")
    }
  }

  /// Observes what makes a store, not its end.
  private static func observeOpening(_ probe: Probe, _ body: () throws -> any Store) throws -> Sample {
    var opened: (any Store)?
    let sample = try probe.observe { opened = try body() }
    return withExtendedLifetime(opened) { sample }
  }

  /// Changes every other record.
  private static func overlay(_ path: String, _ size: Int) throws -> Sample {
    let records = Records()
    let store = try LogStoreStore(path, Setup())
    try store.takeView()
    let before = try MemoryUse.ownPages()
    let elapsed = try timed {
      for first in stride(from: 0, to: size, by: 2000) {
        let keys = stride(from: first, to: min(first + 2000, size), by: 2).map { Records.key($0) }
        try store.putBatch(keys[...], records)
      }
      try store.page.sync()
      try store.takeView()
    }
    let changed = (size + 1) / 2
    let memory = Double(try MemoryUse.ownPages() - before) / Double(changed)
    var sample = Sample.time(elapsed, changed)
    sample[.memoryPerRecord] = memory - Double(Records.keyBytes)
    try store.close()
    return sample
  }

  private static func number(_ words: [String], _ index: Int) throws -> Int {
    guard words.indices.contains(index), let number = Int(words[index]) else { throw Failure("a number is missing") }
    return number
  }
}
