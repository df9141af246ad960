internal import LogStore
internal import LogctlCore

/// `logctl replay --frames`: prints the frames of the kept journals.
struct FramesCommand {
  let session: Session
  private var pages: UInt64 = 0
  private var frames: UInt64 = 0
  private var bytes: UInt64 = 0

  init(_ session: Session) { self.session = session }

  mutating func run() {
    let paths = session.pages() ?? []
    for path in paths where !session.isOver {
      do throws(LogStoreError) {
        try print(path, named: paths.count > 1)
      } catch {
        session.fail(error, page: path)
      }
    }
    session.summarize { [self] output in
      output.buffer.member("pages", pages)
      output.buffer.member("frames", frames)
      output.buffer.member("bytes", bytes)
    }
  }

  private mutating func print(_ path: String, named: Bool) throws(LogStoreError) {
    let progress = ProgressLine(Printable.text(path), on: session.errors, besideRecords: true)
    defer { progress.finish() }
    let output = session.output
    let schema = session.isJSON ? session.schema("frame") : nil
    let pageName = named || session.isJSON ? path : nil
    let from = session.invocation.number("from") ?? 0
    let to = session.invocation.number("to") ?? .max
    var count: UInt64 = 0
    var bytes: UInt64 = 0
    pages += 1
    try rethrowing {
      try PageInspector(path: path).frames(from: from, to: to, progress: progress.handler) { frame in
        output.buffer.beginLine()
        if let schema { output.buffer.member("schema", schema) }
        if let pageName { output.buffer.member("page", pageName) }
        frame.write(to: output)
        output.buffer.endLine()
        output.flushIfFull()
        count += 1
        bytes += UInt64(frame.length)
        return output.isOpen && !Interrupt.isRequested
      }
    }
    frames += count
    self.bytes += bytes
  }
}

extension FrameInfo {
  fileprivate func write(to output: Output) {
    output.buffer.member("lsn", lsn)
    output.buffer.member("generation", generation)
    output.buffer.member("offset", offset)
    output.buffer.member("length", UInt64(length))
    output.buffer.member("kind", kind.description)
    output.buffer.member("end", isLast)
    if let key { unsafe output.buffer.member("key", or: "key64", key.span.bytes) }
    if let mark {
      output.buffer.member("time", Timestamp(nanoseconds: mark.nanoseconds).description)
      output.buffer.member("durableEnd", mark.durableEnd)
      output.buffer.member("closed", mark.isClosed)
    }
  }
}
