/// What the engine itself says in the journal: what is durable.
extension LogWriter {
  func appendMark(_ journal: JournalFile, durableEnd: UInt64, closed: Bool) {
    let mark = Mark(
      lsn: lsn, durableEnd: durableEnd, time: storage.wallClock(), salt: journal.header.salt, isClosed: closed)
    named = durableEnd
    let bytes = tail.current.bytes
    mark.append(to: bytes, offset: tail.current.offset + UInt64(bytes.count), codec: journal.codec)
    staged.append(place: bytes.count, lsn: lsn)
  }

  /// Writes a mark that names what is durable, so that a later reader can tell it from a tail that never was.
  /// With `closed`, the last one: without room for it, the page simply was not closed. Behind a close mark there is
  /// nothing to say.
  func writeMark(closed: Bool) throws(LogStoreError) {
    try checkUsable()
    guard case .journal(let journal) = place else { return }
    let known = durable.withLock { $0 }
    guard closed || known.awaitsMark else { return }
    _ = tail.beginGroup(at: end, durableEnd: known.end)
    groupStart = tail.current.bytes.count
    staged.removeAll()
    hasMark = true
    now = storage.monotonicClock()
    lastMarkTime = now
    appendMark(journal, durableEnd: known.end, closed: closed)
    switch commitGroup(level, in: journal) {
    case .written:
      isClosedAtEnd = closed
      tail.rest(at: end, durableEnd: durable.end)
    case .refused: return
    case .unknown(let error): throw error
    }
  }
}
