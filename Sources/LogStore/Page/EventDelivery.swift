internal import Dispatch

/// Hands events to the page's owner, in order, on a queue of their own: whoever they reach may call the page.
final class EventDelivery: Sendable {
  private let handler: (@Sendable (PageEvent) -> Void)?
  private let queue = DispatchQueue(label: "LogStore.events")
  private let key = DispatchSpecificKey<Bool>()

  init(_ handler: (@Sendable (PageEvent) -> Void)?) {
    self.handler = handler
    queue.setSpecific(key: key, value: true)
  }

  func callAsFunction(_ event: PageEvent) {
    guard let handler else { return }
    queue.async { handler(event) }
  }

  /// Waits until what has happened so far was handed over, unless that is what calls.
  func flush() {
    guard handler != nil, DispatchQueue.getSpecific(key: key) == nil else { return }
    queue.sync {}
  }
}
