internal import Synchronization

extension Page {
  /// The page as it is, and again whenever it has changed.
  ///
  /// The first element is the page as it is when iteration begins. After that comes the newest state each time there is a
  /// newer one than the last delivered: changes that come quicker than the consumer takes them are delivered together,
  /// never out of order, and never twice. The sequence ends when the page is closed or the task is cancelled; what was
  /// written right before closing may not be delivered. For every single operation use ``operations(after:)``.
  public var changes: PageChanges { PageChanges(core: core) }
}

/// The states of a page, as they come. See ``Page/changes``.
public struct PageChanges: AsyncSequence, Sendable {
  public typealias Element = PageView
  public typealias Failure = LogStoreError

  let core: PageCore<RecordModel>

  public func makeAsyncIterator() -> Iterator { Iterator(core: core) }

  public struct Iterator: AsyncIteratorProtocol {
    let core: PageCore<RecordModel>
    private var last: Position?

    init(core: PageCore<RecordModel>) { self.core = core }

    public mutating func next() async throws(LogStoreError) -> PageView? {
      while !Task.isCancelled {
        if core.observers.isFinished { return nil }
        if Iterator.hasChanged(core, last) {
          let core = core
          do throws(LogStoreError) {
            let view = try await offPool { () throws(LogStoreError) in try core.view() }
            last = view.position
            return view
          } catch {
            if error.code == .closed { return nil }
            guard error.code == .suspended else { throw error }
            await core.observers.change { core.phase.current != .suspended }
          }
          continue
        }
        let (core, last) = (core, last)
        await core.observers.change { Iterator.hasChanged(core, last) }
      }
      return nil
    }

    /// Whether the page stands elsewhere than at `last`. Going on in another journal, as compaction does, is no change.
    private static func hasChanged(_ core: PageCore<RecordModel>, _ last: Position?) -> Bool {
      guard let last else { return true }
      return core.log.withLock { $0.standing(of: last) } != .present
    }
  }
}

extension Observers {
  /// Waits for the next change, for the end, or for the task to be cancelled. `hasChanged` is asked once the wait has
  /// begun, so that no change is missed in between.
  func change(_ hasChanged: @escaping @Sendable () -> Bool) async {
    let registration = Registration()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        if let number = wait({ continuation.resume() }) {
          if registration.register(number) || hasChanged() { cancel(number) }
        }
      }
    } onCancel: {
      if let number = registration.cancel() { cancel(number) }
    }
  }
}

/// The number of a wait, which cancelling the task may know before or after the wait has begun.
private final class Registration: Sendable {
  private let state = Mutex((number: Int?.none, isCancelled: false))

  /// Returns whether the task has been cancelled already.
  func register(_ number: Int) -> Bool {
    state.withLock {
      $0.number = number
      return $0.isCancelled
    }
  }

  func cancel() -> Int? {
    state.withLock {
      $0.isCancelled = true
      return $0.number
    }
  }
}
