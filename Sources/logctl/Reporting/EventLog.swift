internal import LogStore
internal import Synchronization

/// What the engine tells from its own threads while a page is open.
final class EventLog: Sendable {
  private let events = Mutex<[PageEvent]>([])

  var handler: @Sendable (PageEvent) -> Void {
    { event in self.events.withLock { $0.append(event) } }
  }

  /// What was told since the last time.
  func drain() -> [PageEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
