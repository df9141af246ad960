/// Some work that every contestant does, in turns, each in a process of its own.
struct Workload {
  let name: String
  let title: String
  var targets: [Target] = []
  var rounds = Rounds()
  var latencies = Latencies.none
  /// Whether what it costs beside time is counted, in turns of their own.
  var counts = Counts.all
  /// Where it stands in a plot.
  var point: PlotPoint?
  let contestants: [Contestant]

  struct Rounds {
    /// Turns for each round asked for: short turns are repeated.
    var repetition = 1
    /// The most rounds, however many are asked for: for work that takes long.
    var most = Int.max
    /// Whether the first turn, which pays for fresh files and memory, is one that does not count.
    var warmsUp = true
  }

  enum Latencies {
    case none
    /// In the turns that are timed, where a look at the clock is nothing to an operation.
    case timed
    /// In turns of their own.
    case apart
  }

  enum Counts {
    case none
    /// All but system calls, which take too long to count where there are many.
    case withoutCalls
    case all
  }
}

/// Where a workload's times stand in a plot.
struct PlotPoint {
  let plot: ScalingPlot.Kind
  let x: Double
}

/// One way of doing a workload's work.
struct Contestant {
  let name: String
  /// Makes everything ready. All its files lie in the directory.
  let prepare: (Scratch) throws -> Prepared

  static let bare = "bare"
  /// Another way of LogStore's own, which the workload's title explains.
  static let reference = "reference"
}

/// A contestant that is ready.
struct Prepared {
  /// Does the work once.
  let turn: (Probe) throws -> Sample
  var finish: () throws -> Void = {}
}

/// How large the work is, and which stores do it.
struct Scale {
  enum Size: String { case quick, full, large }
  var size = Size.full
  var stores: [any Store.Type] = allStores

  func callAsFunction(_ full: Int, quick: Int, large: Int? = nil) -> Int {
    switch size {
    case .quick: quick
    case .full: full
    case .large: large ?? full
    }
  }

  /// Those of the stores that take part.
  func stores(_ chosen: [any Store.Type]) -> [any Store.Type] {
    stores.filter { store in chosen.contains { $0.name == store.name } }
  }
}
