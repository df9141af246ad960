internal import Synchronization

/// Tells about healed records once, and asks for the compaction that mends them.
final class HealNotice: @unchecked Sendable {
  // Invariant: `request` is set once, before the page is handed to anyone.
  var request: (@Sendable () -> Void)?
  private let emit: EventDelivery
  private let told = Atomic<Bool>(false)

  init(_ emit: EventDelivery) { self.emit = emit }

  /// The snapshot has been made anew: what is found from now on is news.
  func reset() { told.store(false, ordering: .relaxed) }

  func notify(_ error: LogStoreError, _ range: Range<UInt64>?) {
    guard !told.exchange(true, ordering: .relaxed) else { return }
    let file = error.path.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    emit(
      .healed(
        Finding(
          .damagedSnapshot, .damage, file: file, range: range,
          detail: "\(error.fault); served from the kept generation", remedy: "logctl compact PAGE")))
    request?()
  }
}
