/// The command line.
struct Arguments {
  var filters: [String] = []
  var only: [String] = []
  var rounds = 9
  var isJSON = false
  var isQuick = false
  var isList = false
  var directory = "/var/tmp"

  static let usage = """
    USAGE: benchmark [--filter NAME[,NAME…]] [--only STORE[,STORE…]] [--rounds N]
                       [--quick] [--json] [--list] [--directory PATH]

      --filter     only workloads whose name contains one of these
      --only       only these stores, beside the bare calls, for a profile
      --rounds     rounds that count, at least 5 for figures to be believed (default 9)
      --quick      small sizes and 2 rounds: shows that all works, not how fast
      --json       a line of JSON for each workload and contestant
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
      case "--json": isJSON = true
      case "--list": isList = true
      case "--quick":
        isQuick = true
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
}
