import Foundation
import LogStore

/// A page's place on the real file system, removed when the test is over.
final class TemporaryPage {
  let path: String

  init() {
    path = FileManager.default.temporaryDirectory.appending(path: "logstore-\(UUID().uuidString)").path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open(_ mode: OpenMode = .create, _ change: (inout PageOptions) -> Void = { _ in }) throws -> Page {
    var options = PageOptions()
    options.durability = .process
    options.compaction = .manual
    change(&options)
    return try Page(path: path, mode: mode, options: options)
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

extension PageView {
  /// Keys and values in page order, as text.
  func texts() throws -> [String] {
    try records().map { String(decoding: $0.key, as: UTF8.self) + "=" + String(decoding: $0.value, as: UTF8.self) }
  }
}
