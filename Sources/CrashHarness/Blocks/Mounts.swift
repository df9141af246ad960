import CPlatform
import Glibc

/// Loop devices and mounted file systems in a folder.
enum Mounts {
  /// - Returns: the device.
  static func attach(_ file: String, sector: Int, note: String) throws(SystemFault) -> String {
    let line = "losetup -f --show -b \(sector) '\(file)' > '\(note)'"
    let isAttached = exclusively { ChildProcess.succeeds("sh", "-c", line) }
    guard isAttached, let bytes = TemporaryFolder.read(note) else { throw SystemFault("losetup \(file)", EINVAL) }
    return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
  }

  /// Detaches a device from a file, if it is that file's.
  static func detach(_ device: String, from file: String) {
    exclusively {
      if hasFile(device, file) { _ = ChildProcess.succeeds("losetup", "-d", device) }
    }
  }

  /// Whether a device shows a file, or one in a folder whose path ends in a slash.
  static func hasFile(_ device: String, _ file: String) -> Bool {
    let name = device.split(separator: "/").last ?? ""
    guard let bytes = TemporaryFolder.read("/sys/block/\(name)/loop/backing_file") else { return false }
    return String(decoding: bytes, as: UTF8.self).hasPrefix(file)
  }

  /// Nobody else who works like this attaches or detaches meanwhile, in no process: a device that was let go is soon
  /// another's.
  private static func exclusively<Result>(_ body: () -> Result) -> Result {
    let control = unsafe open("/dev/loop-control", O_RDWR | O_CLOEXEC)
    if control >= 0 { while flock(control, LOCK_EX) != 0, errno == EINTR {} }
    defer { if control >= 0 { close(control) } }
    return body()
  }

  /// Makes the system forget what it has read of a device. Mostly it does so when a file system is unmounted, but not
  /// while anybody has the device open, as one who looks for a free one does.
  static func forget(_ device: String) throws(SystemFault) {
    let file = unsafe open(device, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemFault("opening \(device)") }
    defer { close(file) }
    guard logstore_forget_device(file) == 0 else { throw SystemFault("flushing \(device)") }
  }

  static func mount(_ device: String, at path: String, _ format: DiskFormat) throws(SystemFault) {
    let flags = UInt(MS_NOATIME | MS_NOSUID | MS_NODEV)
    guard unsafe Glibc.mount(device, path, format.type, flags, format.options) == 0 else {
      throw SystemFault("mounting \(format.name)")
    }
  }

  /// Waits for whoever still uses it, for a while.
  static func unmount(_ path: String) throws(SystemFault) {
    for _ in 0..<5000 {
      if unsafe umount2(path, 0) == 0 { return }
      guard errno == EBUSY else { break }
      usleep(2000)
    }
    throw SystemFault("unmounting \(path)")
  }

  /// Unmounts and detaches all that lies in a folder, in use or not, and removes the folder.
  static func clear(_ folder: String) {
    let table = TemporaryFolder.read("/proc/self/mounts").map { String(decoding: $0, as: UTF8.self) } ?? ""
    let points = table.split(separator: "\n").compactMap { line -> String? in
      let fields = line.split(separator: " ")
      return fields.count > 1 && fields[1].hasPrefix(folder + "/") ? String(fields[1]) : nil
    }
    // What lies on a device first, then what the device lies on.
    for point in points.reversed() where !point.hasSuffix("/fuse") { unsafe umount2(point, Int32(MNT_DETACH)) }
    for name in TemporaryFolder.names(in: "/sys/block") where name.hasPrefix("loop") {
      detach("/dev/\(name)", from: folder + "/")
    }
    for point in points where point.hasSuffix("/fuse") { unsafe umount2(point, Int32(MNT_DETACH)) }
    _ = ChildProcess.succeeds("rm", "-rf", "--one-file-system", folder)
  }
}
