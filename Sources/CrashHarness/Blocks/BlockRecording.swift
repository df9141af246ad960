import Glibc

/// A disk as it was before a workload, what it was told during the workload, and which that was.
struct BlockRecording {
  let format: DiskFormat
  let seed: UInt64
  let log: DiskLog
  /// The disk as it was before.
  let base: String

  /// Makes a file system, and records a workload on it.
  ///
  /// - Parameter folder: on a file system in memory; where this throws, things may be left mounted in it.
  static func make(_ format: DiskFormat, seed: UInt64, in folder: String) throws -> BlockRecording {
    try format.make(folder + "/base")
    guard ChildProcess.succeeds("cp", "--sparse=always", folder + "/base", folder + "/disk") else {
      throw SystemFault("copying the disk", EIO)
    }
    for name in ["fuse", "mounted"] { unsafe mkdir("\(folder)/\(name)", 0o777) }
    let server = try ChildProcess(RecordingDisk.arguments(folder: folder))
    for _ in 0..<30_000 where unsafe access(folder + "/fuse/disk", R_OK) != 0 { usleep(1000) }
    let device = try Mounts.attach(folder + "/fuse/disk", sector: format.sector, note: folder + "/device")
    try Mounts.mount(device, at: folder + "/mounted", format)
    try record(seed, folder)
    // What unmounting writes is told to nobody: the log ends here.
    let bytes = TemporaryFolder.read(folder + "/log") ?? []
    try Mounts.unmount(folder + "/mounted")
    Mounts.detach(device, from: folder + "/fuse/disk")
    try Mounts.unmount(folder + "/fuse")
    server.wait()
    guard let log = DiskLog(bytes) else { throw SystemFault("reading the log", EINVAL) }
    return BlockRecording(format: format, seed: seed, log: log, base: folder + "/base")
  }

  private static func record(_ seed: UInt64, _ folder: String) throws {
    let marks = unsafe open(folder + "/fuse/mark", O_WRONLY | O_CLOEXEC)
    guard marks >= 0 else { throw SystemFault("opening the marks") }
    defer { close(marks) }
    try BlockWorkload(seed: seed).run(in: folder + "/mounted") { bytes in
      let count = unsafe bytes.withUnsafeBytes { unsafe write(marks, $0.baseAddress, $0.count) }
      guard count == bytes.count else { throw SystemFault("marking") }
    }
  }

  // MARK: Keeping

  /// Keeps what it takes to make any state again.
  func save() throws(SystemFault) -> String {
    let folder = try Artefacts.folder("\(BlockTier.name)-\(seed)")
    TemporaryFolder.write(Array("\(seed) \(format.name)\n".utf8), to: folder + "/case")
    TemporaryFolder.write(log.entries.flatMap(DiskLog.encode), to: folder + "/log")
    guard ChildProcess.succeeds("cp", "--sparse=always", base, folder + "/base") else {
      throw SystemFault("keeping \(base)", EIO)
    }
    return folder
  }

  init(format: DiskFormat, seed: UInt64, log: DiskLog, base: String) {
    self.format = format
    self.seed = seed
    self.log = log
    self.base = base
  }

  /// A recording that was kept.
  init(_ folder: String) throws(SystemFault) {
    let text = TemporaryFolder.read(folder + "/case").map { String(decoding: $0, as: UTF8.self) } ?? ""
    let parts = text.dropLast().split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let seed = UInt64(parts[0]),
      let format = DiskFormat.all.first(where: { $0.name == parts[1] }),
      let log = TemporaryFolder.read(folder + "/log").flatMap({ DiskLog($0) })
    else { throw SystemFault("reading \(folder)", EINVAL) }
    self.init(format: format, seed: seed, log: log, base: folder + "/base")
  }
}
