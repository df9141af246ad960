import LogStore
import Testing

@testable import CrashHarness

/// What several writers began and were told, against what a page shows after a kill.
@Suite struct LogOrderTests {
  private func put(_ key: String, _ value: String) -> [TableOperation] { [.put(Array(key.utf8), Array(value.utf8))] }

  private func batch(_ writer: Int, _ operations: [TableOperation], at lsn: UInt64? = nil) -> IssuedBatch {
    IssuedBatch(operations: operations, writer: writer, position: lsn.map { Position(salt: 1, lsn: $0) })
  }

  private func objection(_ issued: [IssuedBatch], _ shown: [[TableOperation]], lsn: UInt64) -> String? {
    var table = OrderedTable()
    for operations in shown { table.apply(operations) }
    return LogOrder(base: OrderedTable(), baseLSN: 0, issued).objection(to: table, lsn: lsn)
  }

  private var one: [TableOperation] { put("a", "one") }
  private var two: [TableOperation] { put("a", "two") + put("b", "two") }
  private var three: [TableOperation] { put("a", "three") }

  @Test func theEnginesOrderCounts() {
    let issued = [batch(0, one, at: 3), batch(1, two, at: 2)]
    #expect(objection(issued, [two, one], lsn: 3) == nil)
    #expect(objection(issued, [one, two], lsn: 3) != nil)
  }

  @Test func anAcknowledgedBatchThatIsGoneIsFound() {
    #expect(objection([batch(0, one, at: 1), batch(1, three, at: 2)], [one], lsn: 1) != nil)
    // Gone, though the LSN went on without it.
    #expect(objection([batch(0, one, at: 1), batch(1, three, at: 2)], [one], lsn: 2) != nil)
  }

  @Test func anOpenBatchIsThereOrNotAndNeverByHalf() {
    let issued = [batch(0, one, at: 1), batch(1, two)]
    #expect(objection(issued, [one], lsn: 1) == nil)
    #expect(objection(issued, [one, two], lsn: 3) == nil)
    #expect(objection(issued, [one, put("a", "two")], lsn: 2) != nil)
    #expect(objection(issued, [one, two], lsn: 2) != nil)
  }

  @Test func openBatchesFillTheGapsBetweenAcknowledgedOnes() {
    let issued = [batch(0, three, at: 4), batch(1, two), batch(2, one, at: 1)]
    #expect(objection(issued, [one, two, three], lsn: 4) == nil)
    // The gap before the last acknowledgement is filled by nothing else.
    #expect(objection(issued, [one, three], lsn: 4) != nil)
  }

  @Test func aWritersOpenBatchIsNotInFrontOfItsOthers() {
    #expect(objection([batch(0, one, at: 2), batch(0, three)], [three, one], lsn: 2) != nil)
    #expect(objection([batch(0, one, at: 2), batch(1, three)], [three, one], lsn: 2) == nil)
  }

  @Test func acknowledgementsThatContradictEachOtherAreFound() {
    #expect(objection([batch(0, one, at: 1), batch(1, three, at: 1)], [one, three], lsn: 1) != nil)
    #expect(objection([batch(0, one, at: 2), batch(0, three, at: 1)], [three, one], lsn: 2) != nil)
  }

  @Test func whatNobodyBeganIsFound() {
    #expect(objection([batch(0, one, at: 1)], [one, three], lsn: 2) != nil)
    #expect(objection([], [one], lsn: 0) != nil)
  }
}
