/// The command line.
struct Arguments {
  var filters: [String] = []
  var only: [String] = []
  var rounds = 9
  var size = Scale.Size.full
  var isJSON = false
  var isList = false
  var directory = "/var/tmp"
  var plot: String?
  /// Another build's program, to compare with.
  var other: String?

  static let usage = """
    USAGE: benchmark [--filter NAME[,NAME…]] [--only STORE[,STORE…]] [--rounds N] [--quick | --large]
                     [--json] [--plot FILE] [--compare PROGRAM] [--list] [--directory PATH]

      --filter     only workloads whose name contains one of these
      --only       only these stores, beside the bare calls
      --rounds     rounds that count, at least 5 for figures to be believed (default 9)
      --quick      small sizes and 2 rounds: shows that all works, not how fast
      --large      also pages of 1 GiB, a journal of 4 GiB and 10,000,000 records
      --json       a line of JSON for each workload, contestant and measure
      --plot       where to draw how times grow with the size of the work, as SVG
      --compare    another build of this program: only LogStore, that build's (A) beside this one's (B)
      --list       the workloads' names
      --directory  where the temporary files go (default /var/tmp)
    """

  init(_ words: some Sequence<String>) throws {
    var rest = Array(words.reversed())
    while let word = rest.popLast() {
      switch word {
      case "--filter": filters += try Arguments.value(word, &rest).split(separator: ",").map(String.init)
      case "--only": only += try Arguments.value(word, &rest).split(separator: ",").map(String.init)
      case "--rounds":
        guard let count = Int(try Arguments.value(word, &rest)), count > 0 else {
          throw Failure("--rounds wants a number")
        }
        rounds = count
      case "--directory": directory = try Arguments.value(word, &rest)
      case "--plot": plot = try Arguments.value(word, &rest)
      case "--compare": other = try Arguments.value(word, &rest)
      case "--json": isJSON = true
      case "--list": isList = true
      case "--large": size = .large
      case "--quick":
        size = .quick
        rounds = 2
      default: throw Failure("unknown argument \(word)\n\(Arguments.usage)")
      }
    }
  }

  private static func value(_ word: String, _ rest: inout [String]) throws -> String {
    guard let value = rest.popLast() else { throw Failure("\(word) wants a value") }
    return value
  }

  func selects(_ name: String) -> Bool { filters.isEmpty || filters.contains { name.contains($0) } }

  var scale: Scale { Scale(size: size, stores: allStores.filter { only.isEmpty || only.contains($0.name) }) }
}
