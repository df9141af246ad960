import LogStore

/// Every short sequence of steps.
enum Sequences {
  /// What a step of a sequence can be; `number` makes what it writes unlike what other steps write.
  static let alphabet: [(name: String, step: @Sendable (_ number: Int) -> [Step])] = [
    ("append", { [.write([put($0)], .power)] }),
    ("append in order", { [.write([put($0)], .ordered)] }),
    ("append to the cache", { [.write([put($0)], .process)] }),
    ("batch", { [.write(batch($0), .process)] }),
    ("batch with a value of several frames", { [.write([put($0), long($0)], .power)] }),
    ("remove", { [.write([.remove(bytes("k0")), .remove(bytes("k\($0 - 1)"))], .process)] }),
    ("sync", { _ in [.sync] }),
    ("compact", { _ in [.compact(.previous)] }),
    ("compact, keep nothing", { _ in [.compact(.none)] }),
    ("killed", { [.kill, .write([put($0)], .process)] }),
    // Half a mark, or all of one.
    ("full disk", { [.full(fits: $0 % 2 == 0 ? 30 : 42, [put($0 + 50)]), .write([put($0)], .process)] }),
    ("failed sync", { [.failedSync(showsOld: $0 % 2 == 0, [put($0)])] }),
    ("suspend and resume", { _ in [.suspend, .resume] }),
    ("close", { _ in [.close] }),
    ("failed close", { _ in [.failedClose(showsOld: false)] }),
    ("reopen", { _ in [.reopen] }),
  ]

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func put(_ number: Int) -> TableOperation {
    .put(bytes("k\(number)"), OperationText.value(5, tag: UInt64(number + 1)))
  }

  private static func batch(_ number: Int) -> [TableOperation] {
    [put(number), .put(bytes("k0"), OperationText.value(3, tag: UInt64(number + 101)))]
  }

  /// Longer than ``Workload/partBytes``.
  private static func long(_ number: Int) -> TableOperation {
    .put(bytes("long"), OperationText.value(70, tag: UInt64(number + 201)))
  }

  /// How many sequences of `length` there are on so many pages. The first step is on the first page: the other way round
  /// would be the same.
  static func count(length: Int, pages: Int) -> Int {
    guard length > 0 else { return 1 }
    return (0..<length).reduce(1) { count, place in count * alphabet.count * (place == 0 ? 1 : pages) }
  }

  /// The sequence with a number: the steps in front of its last one, and that.
  static func sequence(
    _ number: Int, length: Int, pages: Int
  ) -> (head: [Workload.Placed], last: [Workload.Placed]) {
    var number = number
    var groups: [[Workload.Placed]] = []
    for place in 0..<length {
      let letter = number % alphabet.count
      number /= alphabet.count
      let page = place == 0 ? 0 : number % pages
      if place > 0 { number /= pages }
      groups.append(alphabet[letter].step(place + 1).map { Workload.Placed(page, $0) })
    }
    return (Array(groups.dropLast().joined()), groups.last ?? [])
  }
}
