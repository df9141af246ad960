import Glibc

/// Where states of one recording are made, mounted and judged, in the order of the log.
final class BlockBench {
  enum Verdict: Equatable {
    case holds
    case violation(String)
    /// The file system itself does not come up: nothing can be said of the page.
    case unmountable(String)
  }

  private let recording: BlockRecording
  private let folder: String
  private let device: String
  /// All up to a flush, and the same with what a state adds, for the kernel to mount.
  private let stable: DiskImage
  private let state: DiskImage
  private var settled = 0

  /// - Parameter folder: on a file system in memory.
  init(_ recording: BlockRecording, in folder: String) throws(SystemFault) {
    self.recording = recording
    self.folder = folder
    for name in ["stable", "state"] {
      guard ChildProcess.succeeds("cp", "--sparse=always", recording.base, "\(folder)/\(name)") else {
        throw SystemFault("copying \(recording.base)", EIO)
      }
    }
    unsafe mkdir(folder + "/crashed", 0o777)
    stable = try DiskImage(folder + "/stable")
    state = try DiskImage(folder + "/state")
    // A file system whose like was mounted from another device is taken for a second half of that one.
    if recording.format.type == "btrfs" { _ = ChildProcess.succeeds("btrfs", "device", "scan", "--forget") }
    device = try Mounts.attach(folder + "/state", sector: recording.format.sector, note: folder + "/device")
  }

  deinit { Mounts.detach(device, from: folder + "/state") }

  /// - Parameter crash: not before the last one's flush.
  func judge(_ crash: DiskState) throws -> Verdict {
    let flush = recording.log.settled(before: crash.end)
    precondition(flush >= settled, "states are judged in the order of the log")
    stable.apply(recording.log, settled..<flush)
    settled = flush
    // What the last state has left in memory is written now, rather than over the next one.
    try Mounts.forget(device)
    state.become(stable)
    for patch in crash.patches(recording.log, unit: recording.format.sector) { state.apply(patch) }
    try Mounts.forget(device)
    do {
      try Mounts.mount(device, at: folder + "/crashed", recording.format)
    } catch {
      guard Mounts.hasFile(device, folder + "/state") else { throw SystemFault("\(device) was taken away", ENODEV) }
      return .unmountable("\(error)")
    }
    let objection: String?
    do {
      objection = try self.objection(recording.log.marks(before: crash.end))
    } catch {
      try Mounts.unmount(folder + "/crashed")
      throw error
    }
    try Mounts.unmount(folder + "/crashed")
    return objection.map(Verdict.violation) ?? .holds
  }

  private func objection(_ marks: [[UInt8]]) throws -> String? {
    let ledgers = try BlockWorkload(seed: recording.seed).ledgers(marks)
    for (page, ledger) in ledgers.enumerated() {
      let needed = ledger.durable
      do throws(PageJudge.Objection) {
        _ = try PageJudge(path: "\(folder)/crashed/page\(page)", goesOn: true).judge {
          ledger.objection(to: $0, lsn: $1, needed: needed)
        }
      } catch {
        return "page \(page): \(error.text)"
      }
    }
    return nil
  }
}
