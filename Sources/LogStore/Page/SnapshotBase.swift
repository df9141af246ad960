internal import Synchronization

/// A snapshot as the base of a page's state, with a way around its damage.
///
/// What does not verify is served from the kept generation: the state that the snapshot was written from is put together
/// once more, from the snapshot before it and the journals since, and read at the same places. Without one, the records
/// concerned are errors, never absent.
final class SnapshotBase: RecordBase {
  let reader: SnapshotReader
  private let healer: Healer?
  private let onHeal: (@Sendable (LogStoreError, Range<UInt64>?) -> Void)?
  private let healed = Mutex<Healed>(.untried)

  private enum Healed {
    case untried
    case view(PageView)
    case failed
  }

  init(
    _ reader: SnapshotReader, healer: Healer? = nil, onHeal: (@Sendable (LogStoreError, Range<UInt64>?) -> Void)? = nil
  ) {
    self.reader = reader
    self.healer = healer
    self.onHeal = onHeal
  }

  var count: Int { reader.count }

  func index(of key: RawSpan) throws(LogStoreError) -> Int? {
    do {
      return try reader.index(of: key)
    } catch {
      guard let view = try replacementIfKept(for: error) else { return try search(key, after: error) }
      return try view.table.index(of: key)
    }
  }

  func find(_ key: RawSpan) throws(LogStoreError) -> (index: Int, value: [UInt8])? {
    do {
      return try reader.find(key)
    } catch {
      guard let view = try replacementIfKept(for: error) else {
        guard let index = try search(key, after: error) else { return nil }
        return (index, try value(at: index))
      }
      guard let index = try view.table.index(of: key) else { return nil }
      return (index, try view.record(at: index).value)
    }
  }

  /// Looks through all records where the key table is damaged and no earlier generation is kept: they verify by
  /// themselves, so a key that is not found is absent. Slow, until the compaction that is asked for makes a new table.
  private func search(_ key: RawSpan, after error: LogStoreError) throws(LogStoreError) -> Int? {
    guard error.code == .damaged, let offset = error.offset, offset >= reader.footer.keysOffset else { throw error }
    let wanted = unsafe key.withUnsafeBytes { unsafe Array($0) }
    var found: Int?
    var index = 0
    do {
      try reader.forEach(in: 0..<reader.count) { key, _ in
        if key.byteCount == wanted.count, unsafe key.withUnsafeBytes({ unsafe $0.elementsEqual(wanted) }) {
          found = index
        }
        index += 1
        return found == nil
      }
    } catch {
      throw LogStoreError.own(error, "the snapshot cannot be read", path: reader.path)
    }
    tell(error)
    return found
  }

  func key(at index: Int) throws(LogStoreError) -> [UInt8] {
    do {
      return try reader.key(at: index)
    } catch {
      return try replacement(for: error).record(at: index).key
    }
  }

  func value(at index: Int) throws(LogStoreError) -> [UInt8] {
    do {
      return try reader.value(at: index)
    } catch {
      return try replacement(for: error).record(at: index).value
    }
  }

  /// A record, from wherever it can be read; nil if from nowhere.
  func record(at index: Int) -> Record? {
    do {
      return Record(key: try key(at: index), value: try value(at: index))
    } catch {
      return nil
    }
  }

  /// The state that the snapshot was written from, put together without it.
  func replacement(for error: LogStoreError) throws(LogStoreError) -> PageView {
    guard let view = try replacementIfKept(for: error) else { throw error }
    return view
  }

  /// The same; nil where no earlier generation is kept.
  private func replacementIfKept(for error: LogStoreError) throws(LogStoreError) -> PageView? {
    guard error.code == .damaged || error.code == .io else { throw error }
    guard let healer else { return nil }
    let outcome: Result<PageView?, LogStoreError> = healed.withLock {
      if case .view(let view) = $0 { return .success(view) }
      guard case .untried = $0 else { return .success(nil) }
      do throws(LogStoreError) {
        let view = try healer.view(behind: reader)
        guard view.count == reader.count else {
          $0 = .failed
          return .success(nil)
        }
        $0 = .view(view)
        return .success(view)
      } catch {
        // That the system does not let us read it now says nothing of whether it is there: the next reader tries again.
        guard SnapshotBase.saysThatNothingIsKept(error) else { return .failure(error) }
        $0 = .failed
        return .success(nil)
      }
    }
    let view: PageView?
    switch outcome {
    case .success(let kept): view = kept
    // Where the snapshot itself could not be read, that is what there is to say.
    case .failure(let unreadable): throw error.code == .io ? error : unreadable
    }
    if view != nil { tell(error) }
    return view
  }

  /// Has an application's own state, which is read whole, take in what the snapshot was written from; throws `fault` where no
  /// earlier generation is kept.
  func rebuild(_ model: any ReplayTarget, after fault: LogStoreError) throws(LogStoreError) {
    guard let healer, fault.code == .damaged || fault.code == .io else { throw fault }
    do throws(LogStoreError) {
      try healer.rebuild(model, behind: reader)
    } catch {
      // As for records: where the system does not let us read what is kept, that is what there is to say.
      throw SnapshotBase.saysThatNothingIsKept(error) || fault.code == .io ? fault : error
    }
    tell(fault)
  }

  private static func saysThatNothingIsKept(_ error: LogStoreError) -> Bool {
    switch error.code {
    case .noBase, .damaged, .foreignFile, .newerVersion, .wrongState, .notKept: true
    default: false
    }
  }

  private func tell(_ error: LogStoreError) {
    guard let onHeal else { return }
    // The range that verifying names, too; where even that cannot be read, nothing but the place is known.
    onHeal(error, error.offset.flatMap { offset in try? reader.damagedRange(at: offset) })
  }
}

/// Sweeps over runs of a snapshot's records, going around damage.
final class BaseSweep {
  private let base: SnapshotBase
  private let sweep: SnapshotSweep

  /// `isWhole`: it will go on to the last record.
  init(_ base: SnapshotBase, isWhole: Bool) {
    self.base = base
    sweep = SnapshotSweep(base.reader, isWhole: isWhole)
  }

  func forEach(
    in range: Range<Int>, _ take: SnapshotSweep.BlockTaker,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    var next = range.lowerBound
    while next < range.upperBound {
      switch try sweep.visit(next..<range.upperBound, take, body) {
      case .whole: return true
      case .stopped: return false
      case .failed(let error, let index):
        next = index
        let view = try base.replacement(for: error)
        // A few records from the other generation, then another try here.
        let end = min(next + 64, range.upperBound)
        var goesOn = true
        try view.forEach(in: next..<end) { key, value in
          next += 1
          goesOn = try body(key, value)
          return goesOn
        }
        if !goesOn { return false }
      }
    }
    return true
  }
}
