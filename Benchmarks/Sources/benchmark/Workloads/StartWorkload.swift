import Glibc

/// Starting the tool, and the size of its file. Only where the environment's LOGCTL names it.
enum StartWorkload {
  static func all() -> [Workload] {
    guard let path = getenv("LOGCTL").map({ String(cString: $0) }), !path.isEmpty else { return [] }
    return [
      Workload(
        name: "start",
        title: "run `logctl --version`, static and stripped, from its start to its end; bare: /bin/true",
        targets: [.atMost(3e6, .time), .atMost(15e6, .size)], counts: .none,
        contestants: [
          contestant(Contestant.bare, "/bin/true", []), contestant(LogStoreStore.name, path, ["--version"]),
        ])
    ]
  }

  private static func contestant(_ name: String, _ program: String, _ arguments: [String]) -> Contestant {
    Contestant(name: name) { _ in
      Prepared { probe in
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var sample = try probe.observeEach(0..<20) { _ in
          guard try Child.wait(Child.spawn(program, arguments, &actions)) else { throw Failure("\(program) failed") }
        }
        sample[.size] = Double(try Scratch.size(program))
        return sample
      }
    }
  }
}
