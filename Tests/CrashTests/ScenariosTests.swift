import Testing

@testable import CrashHarness

/// The table of scenarios names tests that there are.
@Suite struct ScenariosTests {
  private static let tests = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
  private static let table = tests + "/CrashTests/Scenarios.md"

  private func text(_ path: String) throws -> String {
    String(decoding: try #require(TemporaryFolder.read(path), "\(path)"), as: UTF8.self)
  }

  /// What the suites below a folder declare, as `Suite.test`.
  private func declared(_ folder: String) throws -> Set<String> {
    var found: Set<String> = []
    for name in TemporaryFolder.names(in: folder) {
      let path = folder + "/" + name
      guard name.hasSuffix(".swift") else {
        found.formUnion(try declared(path))
        continue
      }
      let suite = name.dropLast(".swift".count)
      for piece in try text(path).split(separator: "func ").dropFirst() {
        found.insert("\(suite).\(piece.prefix { $0.isLetter || $0.isNumber })")
      }
    }
    return found
  }

  @Test func everyScenarioHasATestThatExistsOrATier() throws {
    let tests = try declared(ScenariosTests.tests)
    let rows = try text(ScenariosTests.table).split(separator: "\n").filter { $0.first == "|" }.dropFirst(2)
    #expect(rows.map { $0.dropFirst(2).prefix { $0.isNumber } } == (1...36).map { "\($0)" })
    for row in rows {
      let cell = row.split(separator: "|", omittingEmptySubsequences: false).dropFirst(3).first ?? ""
      // What stands between two backticks.
      let names = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
      #expect(!names.isEmpty, "\(row)")
      for name in names {
        #expect(tests.contains(name) || ["t0", "t1", "t2", "t3"].contains(name), "\(name)")
      }
    }
  }
}
