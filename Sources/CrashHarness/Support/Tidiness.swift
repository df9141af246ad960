import LogStoreTesting

extension SimulatedStorage {
  /// What is wrong with a page's directory behind a compaction that keeps nothing: the newest generation has to be all that
  /// is left, whatever crashes and faults had left of others. Nil if nothing is.
  ///
  /// - Parameter allowsGaps: whether journals may have been set aside because nothing leads to them.
  func untidiness(in path: String, allowsGaps: Bool = false) -> String? {
    let names = self.names(in: path)
    let files = names.filter { $0.hasSuffix(".journal") || $0.hasSuffix(".snapshot") }
    let newest = files.last.map { String($0.prefix { $0 != "." }) } ?? ""
    guard files == [newest + ".journal", newest + ".snapshot"] else {
      return "a compaction that keeps nothing leaves \(files)"
    }
    // From its first byte on: not what recovery has dropped of it.
    if !allowsGaps, let aside = names.first(where: { $0.hasSuffix(".0000000000000000.quarantine") }) {
      return "a compaction sets aside what belonged to the page's past: \(aside)"
    }
    return nil
  }
}
