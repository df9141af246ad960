import Glibc

/// A file system to crash, and how it is mounted.
struct DiskFormat: Sendable {
  let name: String
  let type: String
  /// What the disk writes whole or not at all, in bytes.
  ///
  /// btrfs and xfs count on whole blocks for what they do not write to a log first, as every disk with sectors of 4 KiB
  /// gives them; ext4 is crashed on the smaller sectors.
  let sector: Int
  let size: Int
  private let maker: [String]
  let options: String

  static let all = [
    ext4("ordered", "data=ordered"), ext4("writeback", "data=writeback"),
    ext4("fast_commit", "data=ordered", ["-O", "fast_commit"]),
    DiskFormat(
      name: "xfs", type: "xfs", sector: 4096, size: 300 << 20,
      maker: ["mkfs.xfs", "-q", "-K", "-f", "-s", "size=4096"],
      options: ""),
    DiskFormat(
      name: "btrfs", type: "btrfs", sector: 4096, size: 110 << 20,
      maker: ["mkfs.btrfs", "-q", "-K", "-f", "-m", "single", "-d", "single"], options: "nodiscard"),
  ]

  private static func ext4(_ mode: String, _ options: String, _ more: [String] = []) -> DiskFormat {
    DiskFormat(
      name: "ext4 \(mode)", type: "ext4", sector: 512, size: 16 << 20,
      maker: ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0", "-J", "size=4"] + more, options: options)
  }

  /// Whether it logs some changes in a shorter way, which the kernel replays less surely.
  var hasFastCommits: Bool { maker.contains("fast_commit") }

  /// Why it cannot be used on this machine; nil if it can.
  var obstacle: String? {
    if getuid() != 0 { return "not root" }
    for device in ["/dev/fuse", "/dev/loop-control"] where unsafe access(device, R_OK | W_OK) != 0 {
      return "no \(device)"
    }
    for tool in [maker[0], "losetup"] where !ChildProcess.succeeds("sh", "-c", "command -v \(tool)") {
      return "no \(tool)"
    }
    let known = TemporaryFolder.read("/proc/filesystems").map { String(decoding: $0, as: UTF8.self) } ?? ""
    let types = known.split(separator: "\n").compactMap { $0.split(whereSeparator: \.isWhitespace).last }
    // A module may still be loaded.
    if !types.contains(Substring(type)), !ChildProcess.succeeds("modprobe", type) { return "the system has no \(type)" }
    return nil
  }

  /// Makes an empty one in a new file.
  func make(_ path: String) throws(SystemFault) {
    let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0, ftruncate(file, size) == 0 else { throw SystemFault("making \(path)") }
    close(file)
    let child = try ChildProcess(Array(maker.dropFirst()) + [path], program: maker[0], isQuiet: true)
    guard child.wait() == .exited(0) else { throw SystemFault("\(maker[0]) \(path)", EINVAL) }
    // A log of zeros is as well a hole.
    _ = ChildProcess.succeeds("fallocate", "--dig-holes", path)
  }
}
