/// A kind of line that `--json` prints: its schema, and the members that it has in their order.
package struct LineSpec: Sendable {
  /// The schema's name in the middle, as `finding` in `logctl.verify.finding/1`.
  package var kind: String
  /// The commands that print it.
  package var commands: [String]
  package var meaning: String
  package var members: [Member]
  /// The kind of line that has the same members, and describes them.
  package var described: String?

  package struct Member: Sendable {
    package var name: String
    package var meaning: String
    /// Left out where there is nothing to say.
    package var isOptional = false

    static func required(_ name: String, _ meaning: String) -> Member { Member(name: name, meaning: meaning) }
    static func optional(_ name: String, _ meaning: String) -> Member {
      Member(name: name, meaning: meaning, isOptional: true)
    }
  }

  /// The schema's whole name.
  package func schema(of command: String) -> String { "logctl.\(command).\(kind)/1" }
}
