internal import Dispatch

/// Hands events to the page's owner, in order, on a queue of their own: whoever they reach may call the page.
///
/// Where nobody listens there is no queue, so that opening and closing a page wake no thread.
final class EventDelivery: Sendable {
  private let listener: Listener?

  private struct Listener {
    let handler: @Sendable (PageEvent) -> Void
    let queue = DispatchQueue(label: "LogStore.events")
    let key = DispatchSpecificKey<Bool>()
  }

  init(_ handler: (@Sendable (PageEvent) -> Void)?) {
    listener = handler.map { Listener(handler: $0) }
    if let listener { listener.queue.setSpecific(key: listener.key, value: true) }
  }

  func callAsFunction(_ event: PageEvent) {
    guard let handler = listener?.handler else { return }
    listener?.queue.async { handler(event) }
  }

  /// Waits until what has happened so far was handed over, unless that is what calls.
  func flush() {
    guard let listener, DispatchQueue.getSpecific(key: listener.key) == nil else { return }
    listener.queue.sync {}
  }
}
