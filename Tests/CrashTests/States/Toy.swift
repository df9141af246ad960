import LogStore
import LogStoreTesting

/// A directory of small files, worked on call by call: what the states of a crash are computed for by hand.
final class Toy {
  let storage: SimulatedStorage
  let directory: any StorageDirectory
  static let path = "/d"

  /// The directory is there, and its name is durable.
  init(_ storage: SimulatedStorage = SimulatedStorage(seed: 5)) throws {
    self.storage = storage
    directory = try storage.openDirectory(Toy.path, create: true)
    try directory.syncParent(.power)
  }

  /// A file, empty or with some bytes that are durable; its name is not.
  func file(_ name: String, _ text: String = "") throws -> any StorageFile {
    let file = try directory.open(name, .createNew)
    if !text.isEmpty { try write(text, to: file, at: 0) }
    try file.sync(.power)
    return file
  }

  func write(_ text: String, to file: any StorageFile, at offset: UInt64) throws {
    let bytes = Array(text.utf8)
    _ = try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, at: offset) }
  }

  func syncNames() throws { try directory.sync(.power) }

  /// What stands in the directory of a disk.
  static func shown(_ storage: SimulatedStorage) -> [String: [UInt8]] { storage.files(in: path) }

  static func text(_ storage: SimulatedStorage, _ name: String) -> String? {
    storage.contents(of: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// All that a crash may leave after what `work` does, from a beginning in which all is durable.
  static func states(
    _ profile: CrashProfile, _ extent: CrashExtent = CrashExtent(), _ work: (Toy) throws -> Void
  ) throws -> Set<[String: [UInt8]]> {
    let toy = try Toy()
    try work(toy)
    toy.storage.recordMoments()
    var shown: Set<[String: [UInt8]]> = []
    var count = 0
    for state in toy.storage.crashStates(at: 0, under: profile, extent: extent) {
      count += 1
      shown.insert(Toy.shown(state.storage()))
    }
    // None twice.
    if shown.count != count { throw Twice(count: count, distinct: shown.count) }
    return shown
  }

  struct Twice: Error { var count, distinct: Int }
}

/// Contents of one file, from texts.
func only(_ name: String, _ texts: String...) -> Set<[String: [UInt8]]> {
  Set(texts.map { [name: Array($0.utf8)] })
}
