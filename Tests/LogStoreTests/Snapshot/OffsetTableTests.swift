import Testing

@testable import LogStore

struct OffsetTableTests {
  /// Random changes, compared with a dictionary; few offsets, so that most changes hit one that is there.
  @Test(arguments: [1, 8, 30, 400]) func agreesWithADictionary(offsets: Int) {
    var random = SystemRandomNumberGenerator()
    let known = (1...offsets).map { _ in UInt64.random(in: 1 ... .max, using: &random) }
    var table = OffsetTable()
    var model: [UInt64: Int] = [:]
    for step in 0..<5000 {
      let offset = known[Int.random(in: 0..<offsets, using: &random)]
      if step % 2 == 0 {
        table.set(offset, step)
        model[offset] = step
      } else {
        table.remove(offset)
        model[offset] = nil
      }
      #expect(table.count == model.count)
      if step % 16 == 0 { #expect(known.allSatisfy { table[$0] == model[$0] }) }
    }
  }

  @Test func whatIsNotThereIsRemovedWithoutATrace() {
    var table = OffsetTable()
    table.remove(7)
    table.set(7, 1)
    table.remove(8)
    #expect(table.count == 1 && table[7] == 1)
  }
}
