/// A page as the parent knows it: what the last recovery showed.
struct KilledPage {
  let path: String
  private(set) var table: OrderedTable
  private(set) var lsn: UInt64

  init(_ path: String, table: OrderedTable = OrderedTable(), lsn: UInt64 = 0) {
    self.path = path
    self.table = table
    self.lsn = lsn
  }

  /// Recovers the page that a kill has left, and says what is wrong; nil if nothing is.
  ///
  /// - Parameters:
  ///   - issued: what was begun on it since the last recovery.
  ///   - closes: whether the page is closed behind the check, or let go, as if this process had been killed as well.
  ///   - verifies: whether every byte of every generation is read.
  mutating func objection(_ issued: [IssuedBatch], closes: Bool, verifies: Bool) -> String? {
    let order = LogOrder(base: table, baseLSN: lsn, issued)
    do throws(PageJudge.Objection) {
      let shown = try PageJudge(path: path, closes: closes, verifies: verifies).judge {
        order.objection(to: $0, lsn: $1)
      }
      (table, lsn) = (shown.table, shown.lsn)
      return nil
    } catch {
      return error.text
    }
  }
}
