import Glibc

/// A file system in user space that shows two files: `disk`, and `mark`, to which acknowledgements are written.
///
/// Every write and flush of the disk, and every mark, goes to a log before it is answered, one after another: a mark's
/// place in the log says what the disk had been told when somebody was told "done". It speaks the kernel's protocol
/// itself, so nothing needs to be installed; it is a process of its own, because a process that waits for a file system
/// which it serves itself can never be ended.
struct RecordingDisk {
  static let mode = "recording-disk"

  private static let rootNode: UInt64 = 1
  private static let diskNode: UInt64 = 2
  private static let markNode: UInt64 = 3
  private static let maximumWrite = 256 << 10
  private static let forever: UInt64 = 3600

  private let connection: Int32
  private let disk: Int32
  private let log: Int32
  private let size: UInt64

  static func arguments(folder: String) -> [String] { [mode, folder] }

  /// Serves until the file system is unmounted.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    // What is interrupted is the parent; this one still has to serve while all is unmounted.
    GuardedFolder.ignoreSignals()
    do {
      try RecordingDisk(arguments[0]).serve()
      return 0
    } catch {
      CrashCommand.complain("recording disk: \(error)")
      return 2
    }
  }

  private init(_ folder: String) throws(SystemFault) {
    disk = unsafe open(folder + "/disk", O_RDWR | O_CLOEXEC)
    guard disk >= 0 else { throw SystemFault("opening the disk") }
    size = UInt64(lseek(disk, 0, SEEK_END))
    log = unsafe open(folder + "/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard log >= 0 else { throw SystemFault("opening the log") }
    connection = unsafe open("/dev/fuse", O_RDWR | O_CLOEXEC)
    guard connection >= 0 else { throw SystemFault("opening /dev/fuse") }
    let options = "fd=\(connection),rootmode=40000,user_id=0,group_id=0"
    guard unsafe mount("recording-disk", folder + "/fuse", "fuse", UInt(MS_NOSUID | MS_NODEV), options) == 0 else {
      throw SystemFault("mounting")
    }
  }

  private func serve() throws(SystemFault) {
    var buffer = [UInt8](repeating: 0, count: RecordingDisk.maximumWrite + 4096)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(connection, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN || errno == ENOENT { continue }
        // Unmounted.
        if errno == ENODEV { return }
        throw SystemFault("reading a request")
      }
      guard let request = FuseRequest(buffer[..<count]) else { continue }
      guard let reply = try answer(request) else { continue }
      _ = unsafe reply.withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
    }
  }

  /// Nil where none is wanted.
  private func answer(_ request: FuseRequest) throws(SystemFault) -> [UInt8]? {
    var reply = FuseReply()
    switch request.operation {
    case .forget, .forgetMany, .interrupt: return nil
    case .initialize:
      reply.add(UInt32(7))
      reply.add(UInt32(31))
      reply.add(UInt32(128 << 10))
      // Writes of more than a page, and of as many as `maximumWrite` has. No writeback cache: what the loop device
      // writes arrives here before it is answered.
      reply.add(UInt32(1 << 5 | 1 << 22))
      reply.add(UInt16(16))
      reply.add(UInt16(12))
      reply.add(UInt32(RecordingDisk.maximumWrite))
      reply.add(UInt32(1))
      reply.add(UInt16(RecordingDisk.maximumWrite / 4096))
      reply.add(zeros: 34)
    case .lookup:
      let node = request.name == "disk" ? RecordingDisk.diskNode : RecordingDisk.markNode
      guard request.name == "disk" || request.name == "mark" else { return FuseReply.error(ENOENT, to: request) }
      reply.add(node)
      reply.add(UInt64(0))
      reply.add(RecordingDisk.forever)
      reply.add(RecordingDisk.forever)
      reply.add(UInt64(0))
      attributes(of: node, &reply)
    case .attributes, .setAttributes:
      reply.add(RecordingDisk.forever)
      reply.add(UInt64(0))
      attributes(of: request.node, &reply)
    case .open:
      reply.add(UInt64(0))
      // A mark is direct: its writer is answered when it is in the log.
      reply.add(UInt32(request.node == RecordingDisk.markNode ? 1 : 0))
      reply.add(UInt32(0))
    case .read:
      guard request.node == RecordingDisk.diskNode else { return FuseReply.error(EINVAL, to: request) }
      let (offset, count) = (Int(request.number(8, 8)), Int(request.number(16, 4)))
      var bytes = [UInt8](repeating: 0, count: count)
      let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(disk, $0.baseAddress, $0.count, offset) }
      guard got >= 0 else { return FuseReply.error(EIO, to: request) }
      reply.add(bytes[..<got])
    case .write:
      let (offset, count) = (request.number(8, 8), Int(request.number(16, 4)))
      let data = request.body.dropFirst(40).prefix(count)
      guard data.count == count else { return FuseReply.error(EINVAL, to: request) }
      if request.node == RecordingDisk.diskNode {
        try record(.write(offset: offset, Array(data)))
        let put = unsafe data.withUnsafeBytes { unsafe pwrite(disk, $0.baseAddress, $0.count, Int(offset)) }
        guard put == count else { return FuseReply.error(EIO, to: request) }
      } else {
        try record(.mark(Array(data)))
      }
      reply.add(UInt32(count))
      reply.add(UInt32(0))
    case .sync:
      if request.node == RecordingDisk.diskNode { try record(.flush) }
    case .statistics: reply.add(zeros: 80)
    case .flush, .release, .destroy: break
    case nil: return FuseReply.error(ENOSYS, to: request)
    }
    return reply.finished(to: request)
  }

  private func attributes(of node: UInt64, _ reply: inout FuseReply) {
    switch node {
    case RecordingDisk.rootNode: reply.add(node: node, size: 0, mode: 0o40755)
    case RecordingDisk.diskNode: reply.add(node: node, size: size, mode: 0o100600)
    default: reply.add(node: node, size: 0, mode: 0o100600)
    }
  }

  private func record(_ entry: DiskLog.Entry) throws(SystemFault) {
    let bytes = DiskLog.encode(entry)
    let count = unsafe bytes.withUnsafeBytes { unsafe write(log, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw SystemFault("writing the log") }
  }
}
