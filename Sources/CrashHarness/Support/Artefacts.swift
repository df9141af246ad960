import Glibc

/// Where what a violation needs to be seen again is kept: `CRASH_ARTEFACTS`, or `.build/crash-artefacts`.
enum Artefacts {
  static let root = unsafe getenv("CRASH_ARTEFACTS").map { unsafe String(cString: $0) } ?? ".build/crash-artefacts"

  /// A new folder of that name, or of one like it.
  static func folder(_ name: String) throws(SystemFault) -> String {
    var made = root.hasPrefix("/") ? "/" : ""
    for part in root.split(separator: "/") {
      made += part
      unsafe mkdir(made, 0o777)
      made += "/"
    }
    for number in 0..<10_000 {
      let path = root + "/" + name + (number == 0 ? "" : "-\(number)")
      if unsafe mkdir(path, 0o777) == 0 { return path }
      guard errno == EEXIST else { throw SystemFault("making \(path)") }
    }
    throw SystemFault("making a folder in \(root)", EEXIST)
  }
}
