@testable import LogStore

/// Real pages to start from: the golden ones.
struct PageCorpus {
  /// A page's files by name; nil for a directory.
  typealias Files = [String: [UInt8]?]

  private let pages: [(mark: UInt16, files: Files)]

  static let golden = Result { try PageCorpus(folder: Repository.path("Tests/Conformance/golden")) }

  init(folder: String) throws {
    let storage = FileSystemStorage()
    let directory = try storage.openDirectory(folder, create: false)
    defer { directory.close() }
    var pages: [(mark: UInt16, files: Files)] = []
    for name in try directory.list() where try directory.status(of: name)?.kind == .directory {
      pages.append((PageCorpus.mark(name), try PageCorpus.files(storage, folder + "/" + name)))
    }
    self.pages = pages.sorted { $0.mark < $1.mark }
  }

  /// The page whose mark is the next from `number` on: inputs mean the same when other pages are added.
  func page(_ number: UInt16) -> Files { (pages.first { $0.mark >= number } ?? pages.first)?.files ?? [:] }

  /// Every page with the number that gives it.
  static func mark(_ name: String) -> UInt16 {
    let hash = name.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    return UInt16(truncatingIfNeeded: hash ^ hash >> 16)
  }

  private static func files(_ storage: FileSystemStorage, _ path: String) throws -> Files {
    let directory = try storage.openDirectory(path, create: false)
    defer { directory.close() }
    var files: Files = [:]
    for name in try directory.list() {
      guard let status = try directory.status(of: name), status.kind == .file else {
        files[name] = .some(nil)
        continue
      }
      let file = try directory.open(name, .read)
      defer { file.close() }
      var bytes = [UInt8](repeating: 0, count: Int(status.size))
      let count = try unsafe bytes.withUnsafeMutableBytes { unsafe try file.read(into: $0, at: 0) }
      files[name] = Array(bytes.prefix(count))
    }
    return files
  }
}
