import LogStore
import LogStoreTesting

/// All places where the engine calls the system, and those that the sessions come to.
struct PlacesCase: Replayable {
  static var tier: any Tier.Type { FaultTier.self }
  let description = "places"

  init() {}

  init?(_ text: String) { if text != description { return nil } }
}

/// A place where the engine calls the system: what it asks for, and of which kind of file.
struct CallPlace: Hashable, Sendable, CustomStringConvertible {
  enum Target: String, CaseIterable, Sendable {
    case parent, directory, journal, snapshot, quarantine
    case newJournal = "journal.tmp"
    case newSnapshot = "snapshot.tmp"
    case newTables = "snapshot.tables.tmp"
    case newQuarantine = "quarantine.tmp"
  }

  var operation: StorageError.Operation
  var target: Target

  var description: String { "\(operation.rawValue) \(target.rawValue)" }

  init(_ operation: StorageError.Operation, _ target: Target) { (self.operation, self.target) = (operation, target) }

  init(_ call: Call) {
    operation = call.operation
    if call.operation == .syncParent || call.path == "/" {
      target = .parent
    } else {
      target = Target.allCases.first { call.name.hasSuffix("." + $0.rawValue) } ?? .directory
    }
  }
}
