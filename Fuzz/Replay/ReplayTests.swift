import Foundation
import Testing

/// The seeds of the fuzzers, and every input that once broke a promise: none does now.
@Suite struct ReplayTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: FuzzTarget.all.map(\.name)) func inputsKeepTheirPromises(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    try target.run([])
    for kind in ["Corpus", "FailCases"] {
      let folder = ReplayTests.folder.appending(path: kind).appending(path: name)
      for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
        let input = try Array(Data(contentsOf: file))
        #expect(throws: Never.self, "\(kind)/\(name)/\(file.lastPathComponent)") { try target.run(input) }
      }
    }
  }

  @Test(arguments: FuzzTarget.all.map(\.name)) func thereAreSeeds(name: String) throws {
    let folder = ReplayTests.folder.appending(path: "Corpus/" + name)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count >= 5)
  }
}
