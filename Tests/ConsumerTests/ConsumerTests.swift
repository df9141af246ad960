import Foundation
import LogStore
import Testing

/// An app as most are built now: everything on the main actor unless it says otherwise.
@Suite struct ConsumerTests {
  final class Canvas {
    var strokes: [String] = []
    let page: Page

    init(_ path: String) throws { page = try Page(path: path) }

    func follow() async throws {
      for try await view in page.changes {
        strokes = try view.records().map { String(decoding: $0.key, as: UTF8.self) }
        if strokes.count == 3 { return }
      }
    }

    func add(_ stroke: String) async throws {
      try await page.put("ink", for: stroke, durability: .process)
    }
  }

  private let path = FileManager.default.temporaryDirectory.appending(path: "consumer-\(UUID().uuidString)").path

  @Test func anAppOnTheMainActorWritesAndFollows() async throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let canvas = try Canvas(path)
    async let following: Void = canvas.follow()
    for stroke in ["a", "b", "c"] { try await canvas.add(stroke) }
    try await following
    #expect(canvas.strokes == ["a", "b", "c"])
    try await canvas.page.close()
  }

  @Test func theReadMeIsTrue() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try example(path)
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readMe = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let source = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "ReadMeExample.swift"),
      encoding: .utf8)
    let code = try #require(readMe.components(separatedBy: "```swift\n").last?.components(separatedBy: "```").first)
    let example = try #require(
      source.components(separatedBy: "// README begins\n").last?.components(separatedBy: "  // README ends").first)
    let words = { (text: String) in text.split(whereSeparator: \.isWhitespace).map(String.init) }
    #expect(words("import LogStore " + example) == words(code.replacingOccurrences(of: "\"notes.page\"", with: "path")))
  }
}
