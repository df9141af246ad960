/// Where the choices are too many: every prefix of the effects, all of them but one, and all but two.
struct SystematicStates {
  let count: Int
  /// In the order in which they were made.
  private let effects: [Effect]

  private enum Effect {
    case name(Int)
    case write(file: Int, Int)
  }

  /// - Parameter limit: leaving two out is left out where it is more states than this.
  init(_ window: CrashWindow, limit: Int) {
    var effects = window.changes.enumerated().map { ($1.change.sequence, Effect.name($0)) }
    for (place, file) in window.files.enumerated() {
      effects += file.writes.enumerated().map { ($1.sequence, Effect.write(file: place, $0)) }
    }
    self.effects = effects.sorted { $0.0 < $1.0 }.map(\.1)
    let (number, pairs) = (effects.count, effects.count * max(effects.count - 1, 0) / 2)
    count = number + 1 + number + (pairs <= limit ? pairs : 0)
  }

  /// - Returns: nil where the profile does not allow it.
  func state(_ number: Int, of window: CrashWindow) -> CrashState? {
    guard number >= 0 else { return nil }
    var names = window.changes.map { _ in true }
    var writes = window.files.map { $0.writes.map { _ in true } }
    func drop(_ place: Int) {
      switch effects[place] {
      case .name(let change): names[change] = false
      case .write(let file, let write): writes[file][write] = false
      }
    }
    let all = effects.count
    if number <= all {
      for place in number..<all { drop(place) }
    } else if number <= 2 * all {
      drop(number - all - 1)
    } else {
      var (first, rest) = (0, number - 2 * all - 1)
      while first < all, rest >= all - 1 - first {
        rest -= all - 1 - first
        first += 1
      }
      guard first < all else { return nil }
      drop(first)
      drop(first + 1 + rest)
    }
    guard window.allows(names, writes) else { return nil }
    return window.state(
      window.names(names),
      { place in
        zip(window.files[place].writes, writes[place]).map { (write, arrived) -> WriteFate in
          arrived ? .whole(write.bytes.count) : .absent
        }
      },
      .systematic(number))
  }
}

extension CrashWindow {
  /// Whether these whole effects, and no others, may have arrived.
  func allows(_ names: [Bool], _ writes: [[Bool]]) -> Bool {
    if profile.ordersNames, let hole = names.firstIndex(of: false), names[hole...].contains(true) { return false }
    for (file, arrived) in zip(files, writes) {
      let ordered = zip(file.writes, arrived).filter { file.isInOrder($0.0, profile) }.map(\.1)
      if let hole = ordered.firstIndex(of: false), ordered[hole...].contains(true) { return false }
    }
    return stages.contains { stage in
      zip(needs(stage), names).allSatisfy { CrashWindow.fits($0, $1) }
        && zip(files, writes).allSatisfy { file, arrived in
          zip(file.writes, arrived).allSatisfy {
            CrashWindow.fits(need($0.sequence, $0.barrier, isName: false, stage), $1)
          }
        }
    }
  }

  private static func fits(_ need: Need, _ arrived: Bool) -> Bool {
    switch need {
    case .mayArrive: true
    case .mustArrive: arrived
    case .cannotArrive: !arrived
    }
  }

  /// The state with these names, and these fates for the writes of each unsynced file that has one.
  func state(_ names: NamesOutcome, _ fates: (Int) -> [WriteFate], _ choice: CrashState.Choice) -> CrashState {
    CrashState(
      self, names, names.unsynced.map { FileOutcome(files[$0].number, files[$0].content(fates($0))) }, choice)
  }
}
