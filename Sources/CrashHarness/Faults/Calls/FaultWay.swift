import Glibc
import LogStore
import LogStoreTesting

/// A way in which a call can fail.
enum FaultWay: String, CaseIterable, Sendable {
  case inputOutput, noSpace, quota, interrupted, interruptedAnywhere, refused, locked, short, shortThenNoSpace
  case partThenError, wholeThenError, wholeThenNoSpace, syncKeepsNew, syncShowsOld

  private static let syncs: Set<StorageError.Operation> = [.writeOut, .sync, .syncDirectory, .syncParent]
  /// A page's own name that counts as durable and is not cannot be had anew: docs/crash-safety.md, "What is not".
  private static let ownSyncs = syncs.subtracting([.syncParent])
  private static let growing: Set<StorageError.Operation> = [.write, .create, .rename, .createDirectory]

  func faults(after: Int, repeating: Bool) -> [Fault] {
    switch self {
    case .inputOutput: [Fault(nil, .error(EIO), after: after, repeating: repeating)]
    case .noSpace: [Fault(FaultWay.growing, .error(ENOSPC), after: after, repeating: repeating)]
    case .quota: [Fault(FaultWay.growing, .error(EDQUOT), after: after, repeating: repeating)]
    // From then on for ever would be no fault of the engine's: it goes on for as long as it is interrupted.
    case .interrupted: [Fault([.read, .write], .error(EINTR), after: after)]
    case .interruptedAnywhere:
      [Fault(Set(StorageError.Operation.allCases).subtracting([.read, .write]), .error(EINTR), after: after)]
    case .refused: [Fault(nil, .error(EACCES), after: after, repeating: repeating)]
    // What a locked device answers.
    case .locked: [Fault(nil, .error(EPERM), after: after, repeating: repeating)]
    case .short: [Fault([.read, .write], .short(61), after: after, repeating: repeating)]
    case .shortThenNoSpace:
      [Fault(.write, .short(11), after: after), Fault(.write, .error(ENOSPC), after: after, repeating: repeating)]
    case .partThenError: [Fault(.write, .partThenError(20, EIO), after: after, repeating: repeating)]
    // All is written, and the call says that it is not.
    case .wholeThenError: [Fault(.write, .partThenError(.max, EIO), after: after, repeating: repeating)]
    case .wholeThenNoSpace: [Fault(.write, .partThenError(.max, ENOSPC), after: after, repeating: repeating)]
    case .syncKeepsNew: [Fault(FaultWay.ownSyncs, .failedSync(cache: .new), after: after, repeating: repeating)]
    case .syncShowsOld: [Fault(FaultWay.syncs, .failedSync(cache: .old), after: after, repeating: repeating)]
    }
  }

  /// What a call that is made to fail says, and no call of a simulated disk says by itself.
  var errnos: Set<Int32> {
    switch self {
    case .inputOutput, .partThenError, .wholeThenError, .syncKeepsNew, .syncShowsOld: [EIO]
    case .noSpace, .shortThenNoSpace, .wholeThenNoSpace: [ENOSPC]
    case .quota: [EDQUOT]
    case .interrupted, .interruptedAnywhere: [EINTR]
    case .refused: [EACCES]
    case .locked: [EPERM]
    case .short: []
    }
  }

  var cacheLies: Bool { self == .syncShowsOld }

  /// Whether it can be had from some call on for ever.
  var canRepeat: Bool { self != .interrupted && self != .interruptedAnywhere }

  /// What may be said when calls fail so: never that the page is damaged, foreign or absent.
  var honest: Set<LogStoreError.Code> {
    let unsettled: Set<LogStoreError.Code> = [.outcomeUnknown, .suspended]
    switch self {
    case .interrupted, .short: return []
    case .inputOutput, .interruptedAnywhere, .partThenError, .wholeThenError, .syncKeepsNew, .syncShowsOld:
      return unsettled.union([.io, .cannotCreate])
    case .noSpace, .quota, .shortThenNoSpace, .wholeThenNoSpace: return unsettled.union([.noSpace, .cannotCreate])
    case .refused, .locked: return unsettled.union([.unavailable, .cannotCreate])
    }
  }
}
