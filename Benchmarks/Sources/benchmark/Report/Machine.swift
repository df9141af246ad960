import Glibc

/// What the figures were made on.
enum Machine {
  static func description(directory: String) -> String {
    var system = utsname()
    uname(&system)
    let release = withUnsafePointer(to: &system.release) {
      $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) { String(cString: $0) }
    }
    let memory = Double(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)))
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    var loads = [0.0, 0.0, 0.0]
    getloadavg(&loads, 3)
    let lines = [
      "\(processors) × \(field("model name", in: "/proc/cpuinfo", ":") ?? "an unknown processor"), \(byteText(memory))",
      "Linux \(release), \(field("PRETTY_NAME", in: "/etc/os-release", "=") ?? "no release"); "
        + "files on \(fileSystem(directory) ?? "an unknown file system"), in \(directory)",
      "load \(fixed(loads[0], 1)), \(fixed(loads[1], 1)) (over 1 and 5 minutes)",
      variable("BENCHMARK_VERSIONS"),
    ]
    return lines.compactMap { $0 }.joined(separator: "\n") + "\n"
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  private static func field(_ name: String, in file: String, _ separator: Character) -> String? {
    for line in ((try? PlainFile.text(file)) ?? "").split(separator: "\n") where line.hasPrefix(name) {
      let parts = line.split(separator: separator, maxSplits: 1)
      if parts.count == 2 { return String(parts[1].filter { $0 != "\"" }).trimmed }
    }
    return nil
  }

  /// The type of the file system that the longest matching mount point has.
  private static func fileSystem(_ directory: String) -> String? {
    var best: (point: Substring, type: Substring)?
    for line in ((try? PlainFile.text("/proc/mounts")) ?? "").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, directory == words[1] || words[1] == "/" || directory.hasPrefix(words[1] + "/") else {
        continue
      }
      if words[1].count >= best?.point.count ?? 0 { best = (words[1], words[2]) }
    }
    return best.map { String($0.type) }
  }
}
