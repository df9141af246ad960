import Foundation
import LogStore
import Testing

@Suite struct SalvageTests {
  let place = TemporaryPage()

  /// A page of one snapshot and nothing kept before it, with a few operations behind.
  private func make(_ compression: Compression) throws -> [String] {
    let page = try place.open { $0.compression = compression }
    for index in 0..<400 { try page.put(String(repeating: "value \(index) ", count: 12), for: "key \(index)") }
    try page.put([UInt8](repeating: 9, count: 3 << 20), for: "long")
    try page.compact(keep: Retention.none)
    try page.put("changed", for: "key 7")
    try page.remove("key 8")
    let texts = try page.view().texts()
    try page.close()
    return texts
  }

  private func damage(_ name: String, at offset: Int) throws {
    let url = URL(filePath: place.path).appending(path: name)
    var data = try Data(contentsOf: url)
    data[offset < 0 ? data.count + offset : offset] ^= 0x10
    try data.write(to: url)
  }

  private func salvage() throws -> (texts: [String], report: SalvageReport) {
    let before = try Dictionary(
      uniqueKeysWithValues: place.names().map { ($0, try Data(contentsOf: URL(filePath: place.path + "/" + $0))) })
    let target = TemporaryPage()
    let report = try PageInspector(path: place.path).salvage(to: target.path)
    let after = try Dictionary(
      uniqueKeysWithValues: place.names().map { ($0, try Data(contentsOf: URL(filePath: place.path + "/" + $0))) })
    #expect(before == after, "the source is not touched")
    let page = try target.open(.readOnly)
    #expect(page.report.findings.isEmpty)
    #expect(UInt64(try page.view().count) == report.records)
    return (try page.view().texts(), report)
  }

  @Test(arguments: [Compression.none, .deflate], [0, 60, 100, -70, -20])
  func aSnapshotWithoutHeaderOrFooterGivesItsRecords(compression: Compression, offset: Int) throws {
    let texts = try make(compression)
    try damage("0000000001.snapshot", at: offset)
    if offset != -70 {
      #expect(throws: LogStoreError.self) { try place.open(.readOnly) }
    }
    let salvaged = try salvage()
    #expect(salvaged.texts == texts)
    #expect(salvaged.report.findings.contains { $0.severity == .damage } == (offset != -70))
  }

  /// What stands in another page's file is no part of this one, however little is left of it.
  @Test func anotherPagesFileIsNotCopied() throws {
    let page = try place.open()
    try page.put("before", for: "gone")
    try page.compact(keep: Retention.none)
    try page.put("left", for: "ours")
    try page.close()
    let other = TemporaryPage()
    let theirs = try other.open()
    try theirs.put("strange", for: "theirs")
    try theirs.close()
    try FileManager.default.removeItem(atPath: place.path + "/0000000001.snapshot")
    try FileManager.default.copyItem(
      atPath: other.path + "/0000000000.journal", toPath: place.path + "/0000000000.journal")
    #expect(throws: LogStoreError.self) { try place.open(.readOnly) }
    let target = TemporaryPage()
    let report = try PageInspector(path: place.path).salvage(to: target.path)
    #expect(report.findings.contains { $0.kind == .stranger && $0.file == "0000000000.journal" })
    let view = try target.open(.readOnly).view()
    #expect(try text(view.value(for: "ours")) == "left")
    #expect(try view.value(for: "theirs") == nil)
  }

  @Test func aDamagedKeyTableWithoutAnEarlierGenerationIsDoneWithout() throws {
    let texts = try make(.none)
    let size = try Data(contentsOf: URL(filePath: place.path + "/0000000001.snapshot")).count
    // Every bucket of the table: the file ends in them and the 65 bytes of the footer.
    for bucket in 1...5 { try damage("0000000001.snapshot", at: size - 65 - bucket * 1033 + 500) }
    let page = try place.open()
    #expect(try page.view().texts() == texts)
    #expect(try text(page.view().value(for: "key 9"))?.hasPrefix("value 9 ") == true)
    #expect(try page.view().value(for: "no such key") == nil)
    try page.put("new", for: "key 9")
    #expect(try text(page.view().value(for: "key 9")) == "new")
    try page.compact()
    try page.close()
    #expect(try PageInspector(path: place.path).verify().findings.filter { $0.file > "0000000002" }.isEmpty)
    #expect(try text(place.open(.readOnly).view().value(for: "key 9")) == "new")
  }

  @Test func damagedRecordsAreLeftOutAndNamed() throws {
    let texts = try make(.none)
    try damage("0000000001.snapshot", at: 200)
    let salvaged = try salvage()
    #expect(Set(salvaged.texts).isSubset(of: texts))
    #expect(salvaged.texts.count == texts.count - 1)
    #expect(salvaged.report.findings.count { $0.lostOperations == 1 } == 1)
  }

  @Test func aHealthyPageIsCopiedInOrder() throws {
    let texts = try make(.none)
    let salvaged = try salvage()
    #expect(salvaged.texts == texts)
    #expect(salvaged.report.findings.isEmpty)
  }

  @Test func nothingIsWrittenOverSomethingElse() throws {
    _ = try make(.none)
    let other = TemporaryPage()
    try other.open().put("mine", for: "k")
    let names = try other.names()
    let error = #expect(throws: LogStoreError.self) { try PageInspector(path: place.path).salvage(to: other.path) }
    #expect(error?.code == .cannotCreate)
    #expect(try other.names() == names)
  }
}
