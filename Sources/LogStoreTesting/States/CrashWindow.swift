/// What may be on disk after the power went at one moment: the effects that were not synced, and what may have become of
/// each of them.
final class CrashWindow {
  let disk: Disk
  let clock: SimulatedClock
  let moment: Int
  let profile: CrashProfile
  /// Changes of names, in the order in which they were made.
  let changes: [(directory: UInt64, change: DiskDirectory.Change)]
  /// By number.
  let files: [UnsyncedFile]
  let stages: [Stage]
  private let settledNames: [UInt64: [String: UInt64]]
  private var contents: [UInt64: UInt64] = [:]

  /// How far barriers have come: what stands behind those passed has arrived, and what was made after the next has not.
  struct Stage {
    var floor: UInt64 = 0
    var ceiling: UInt64 = .max
  }

  enum Need { case mustArrive, mayArrive, cannotArrive }

  init(_ disk: Disk, _ clock: SimulatedClock, moment: Int, _ profile: CrashProfile) {
    self.disk = disk
    self.clock = clock
    self.moment = moment
    self.profile = profile
    var changes: [(directory: UInt64, change: DiskDirectory.Change)] = []
    var settled: [UInt64: [String: UInt64]] = [:]
    for (number, directory) in disk.directories {
      settled[number] = directory.durableNames
      if !profile.orderedSyncsAreDurable, let handed = directory.handed {
        settled[number] = handed.names
        changes += handed.changes.map { (number, $0) }
      }
      changes += directory.pending.map { (number, $0) }
    }
    self.changes = changes.sorted { $0.change.sequence < $1.change.sequence }
    settledNames = settled
    files = disk.files.keys.sorted().compactMap { number in
      disk.files[number].map { UnsyncedFile(number, $0, profile, removed: disk.removed) }
    }.filter { !$0.writes.isEmpty }
    let barriers = Set(changes.compactMap(\.change.barrier) + files.flatMap(\.writes).compactMap(\.barrier)).sorted()
    stages = zip([0] + barriers, barriers + [.max]).map(Stage.init)
  }

  func need(_ sequence: UInt64, _ barrier: UInt64?, isName: Bool, _ stage: Stage) -> Need {
    if sequence > stage.ceiling { return .cannotArrive }
    if let barrier, barrier <= stage.floor { return .mustArrive }
    return isName && profile.ordersNames && sequence <= disk.committed ? .mustArrive : .mayArrive
  }

  // MARK: Names

  /// The names after these changes have arrived, and no others.
  func names(_ arrived: [Bool]) -> NamesOutcome {
    var names = settledNames
    for (place, (directory, change)) in changes.enumerated() where arrived[place] {
      DiskDirectory.apply(change.kind, to: &names[directory, default: [:]])
    }
    return NamesOutcome(disk, names, unsynced: files, contents: &contents)
  }

  /// Which changes must, may and cannot arrive at a stage.
  func needs(_ stage: Stage) -> [Need] {
    changes.map { need($0.change.sequence, $0.change.barrier, isName: true, stage) }
  }

  /// All sets of names at a stage; nil where there are more than `limit`.
  func allNames(_ stage: Stage, limit: Int) -> [NamesOutcome]? {
    let needs = needs(stage)
    let free = needs.indices.filter { needs[$0] == .mayArrive }
    var arrived = needs.map { $0 == .mustArrive }
    var outcomes: [NamesOutcome] = []
    var seen: Set<UInt64> = []
    func add(_ arrived: [Bool]) {
      let outcome = names(arrived)
      if seen.insert(outcome.hash).inserted { outcomes.append(outcome) }
    }
    if profile.ordersNames {
      guard free.count < limit else { return nil }
      add(arrived)
      for place in free {
        arrived[place] = true
        add(arrived)
      }
    } else {
      guard free.count < 20, 1 << free.count <= limit else { return nil }
      for choice in 0..<(1 << free.count) {
        for (bit, place) in free.enumerated() { arrived[place] = choice >> bit & 1 == 1 }
        add(arrived)
      }
    }
    return outcomes
  }

  // MARK: Contents

  /// What may have become of each write of a file at a stage, as lists to choose from, one list of lists for every place at
  /// which writes that arrive in order may have ended; nil where the choices are more than `limit`.
  func fates(_ file: UnsyncedFile, _ stage: Stage, _ grain: Grain, limit: Int) -> [[[WriteFate]]]? {
    var choices: [[WriteFate]] = []
    var product = 1
    for write in file.writes {
      var all: [WriteFate] = [.absent]
      switch need(write.sequence, write.barrier, isName: false, stage) {
      case .cannotArrive: break
      case .mustArrive: all = [.whole(write.bytes.count)]
      case .mayArrive:
        guard !file.isInOrder(write, profile) else { break }
        guard let fates = WriteFates(write, file, profile, grain, limit: limit / product) else { return nil }
        all = fates.all
      }
      product *= all.count
      guard product <= limit else { return nil }
      choices.append(all)
    }
    var points = [choices]
    for (place, write) in file.writes.enumerated() where file.isInOrder(write, profile) {
      for cut in WriteFates.cuts(write, 4096).dropFirst() where grain >= .sectors || cut == write.bytes.count {
        choices[place] = [WriteFate(size: cut, arrived: [0..<cut], garbage: .zeros)]
        points.append(choices)
      }
      guard points.count * product <= limit else { return nil }
    }
    return points
  }

  /// All that a file may hold, without duplicates.
  func outcomes(_ file: UnsyncedFile, _ points: [[[WriteFate]]]) -> [FileOutcome] {
    var seen: Set<UInt64> = []
    var all: [FileOutcome] = []
    for choices in points {
      var contents = [FileOutcome(file.number, file.base)]
      for (write, fates) in zip(file.writes, choices) {
        var next: [FileOutcome] = []
        var here: Set<UInt64> = []
        for content in contents {
          for fate in fates {
            var bytes = content.bytes
            fate.apply(write, to: &bytes, file)
            let outcome = FileOutcome(file.number, bytes)
            if here.insert(outcome.hash).inserted { next.append(outcome) }
          }
        }
        contents = next
      }
      for content in contents where seen.insert(content.hash).inserted { all.append(content) }
    }
    return all
  }
}
