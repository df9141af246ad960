/// Every sequence of some lengths, on every base, by number.
struct ShortSequences: Sendable {
  var pages: Int
  var bases: [Workload.Base]
  var kind = Workload.Kind.records
  var lengths = 0...3

  var count: Int {
    lengths.reduce(0) { $0 + Sequences.count(length: $1, pages: pages) } * bases.count
  }

  /// A sequence, and its last step: crashes in the others are those of a shorter sequence.
  func workload(_ number: Int) -> (Workload, last: Int) {
    let base = bases[number % bases.count]
    var number = number / bases.count
    var length = lengths.lowerBound
    while number >= Sequences.count(length: length, pages: pages) {
      number -= Sequences.count(length: length, pages: pages)
      length += 1
    }
    let (head, last) = Sequences.sequence(number, length: length, pages: pages)
    let workload = Workload(base: base, kind: kind, pages: pages, steps: head + last)
    return (workload, length > 0 ? head.count : .max)
  }
}
