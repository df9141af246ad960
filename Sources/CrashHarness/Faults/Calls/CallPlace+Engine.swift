import LogStore

extension CallPlace {
  /// Every place that the engine has. A journal keeps the name that it was made under for whoever has it open.
  static let engine = Set(
    targets.flatMap { target, operations in operations.map { CallPlace($0, target) } })

  private static let targets: [(Target, [StorageError.Operation])] = [
    (.parent, [.openDirectory, .list, .syncParent]),
    (.directory, [.openDirectory, .createDirectory, .list, .status, .lock, .syncDirectory]),
    (.newJournal, [.create, .status, .read, .write, .sync, .remove]),
    (.journal, [.rename, .open, .status, .read, .write, .sync, .remove]),
    (.newSnapshot, [.create, .status, .read, .write, .writeOut, .sync, .remove]),
    (.newTables, [.create, .read, .write, .remove]),
    (.snapshot, [.rename, .open, .status, .read, .sync, .remove]),
    (.newQuarantine, [.create, .write, .sync, .remove]),
    (.quarantine, [.rename, .status]),
  ]

  /// Those that no session comes to, and why.
  static let beyondSessions: [CallPlace: String] = {
    let reason = "a snapshot of fewer than 2^19 records keeps its tables in memory; SnapshotWriterTests lower that"
    return Dictionary(uniqueKeysWithValues: engine.filter { $0.target == .newTables }.map { ($0, reason) })
  }()

  /// Where the sessions call the system when nothing fails, where each call fails once in turn; and where calls fail when
  /// all do from some call on, which is how one comes to the tidying up behind a failure.
  ///
  /// - Parameter stride: of the calls to fail from, only each so many is tried.
  static func reached(every stride: Int = 5) throws -> Set<CallPlace> {
    var found: Set<CallPlace> = []
    for session in FaultSession.all {
      var one = FaultCase(session: session.name, way: .inputOutput, place: .max, isRepeating: true)
      let undisturbed = try one.run(crashes: [])
      found.formUnion(undisturbed.called)
      one.place = 0
      while true {
        let outcome = try one.run(crashes: [])
        guard outcome.fired else { break }
        found.formUnion(outcome.failed)
        one.place += stride
      }
    }
    return found
  }

  /// What the sessions come to and the list does not have, or the other way about; empty if they agree.
  static func disagreements(_ reached: Set<CallPlace>) -> [String] {
    reached.symmetricDifference(engine.subtracting(beyondSessions.keys)).map(\.description).sorted()
  }
}
