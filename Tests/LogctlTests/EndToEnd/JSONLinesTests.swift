import LogctlCore
import Testing

/// What `--json` prints is what the manual page says.
@Suite struct JSONLinesTests {
  let scratch = Scratch()

  /// The names of a line's own members, in their order; nil if it is no object.
  private func members(of line: String) -> [String]? {
    var names: [String] = []
    var depth = 0
    var text: String?
    var last = ""
    var isEscaped = false
    for character in line {
      if let open = text {
        if isEscaped {
          isEscaped = false
          text = open + String(character)
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          last = open
          text = nil
        } else {
          text = open + String(character)
        }
        continue
      }
      switch character {
      case "\"": text = ""
      case "{", "[": depth += 1
      case "}", "]": depth -= 1
      case ":" where depth == 1: names.append(last)
      default: break
      }
    }
    return line.hasPrefix("{") && depth == 0 && text == nil ? names : nil
  }

  private func schema(of line: String) -> String {
    String(line.split(separator: "\"").dropFirst(2).dropFirst().first ?? "")
  }

  /// Checks every line against the table, and that the summary is the last; returns the schemas.
  @discardableResult
  private func check(_ arguments: String..., input: String = "") -> Set<String> {
    let result = Tool.run([arguments[0], "--json"] + arguments.dropFirst(), input: Array(input.utf8))
    var schemas: [String] = []
    for line in result.lines {
      let schema = schema(of: line)
      schemas.append(schema)
      guard let spec = LineTable.lines.first(where: { $0.commands.map($0.schema).contains(schema) }) else {
        Issue.record("the table has no schema \(schema)")
        continue
      }
      guard let names = members(of: line) else {
        Issue.record("no object: \(line)")
        continue
      }
      #expect(names.first == "schema")
      let own = Array(names.dropFirst())
      #expect(own == spec.members.map(\.name).filter(own.contains), "\(line)")
      for member in spec.members where !member.isOptional {
        #expect(own.contains(member.name), "\(member.name) in \(line)")
      }
    }
    #expect(schemas.last == "logctl.\(arguments[0]).summary/1", "\(result)")
    #expect(schemas.filter { $0.contains(".summary/") }.count == 1)
    let code = "\"exit\":\(result.exit)"
    #expect(result.lines.last.map { $0.contains(code + ",") || $0.hasSuffix(code + "}") } == true, "\(result)")
    return Set(schemas.map { String($0.split(separator: ".")[2]) })
  }

  @Test func everyLine() {
    let page = scratch["page"]
    #expect(
      check("import", page, input: "{\"key\":\"k\",\"value\":\"v\"}\n{\"key64\":\"/w==\",\"value64\":\"/w==\"}") == [
        "summary/1"
      ])
    #expect(check("import", page, input: "{}") == ["error/1", "summary/1"])
    #expect(check("replay", page) == ["record/1", "summary/1"])
    #expect(check("replay", "--frames", page) == ["frame/1", "summary/1"])
    #expect(check("compact", "--dry-run", page) == ["page/1", "summary/1"])
    #expect(check("compact", page) == ["page/1", "summary/1"])
    #expect(check("verify", page) == ["page/1", "summary/1"])
    #expect(check("salvage", page, "-o", scratch["copy"]) == ["page/1", "summary/1"])
    #expect(check("forget", page) == ["summary/1"])
    for command in ["replay", "compact", "verify", "forget"] {
      #expect(check(command, scratch["absent"]) == ["error/1", "summary/1"])
      #expect(check(command) == ["summary/1"])
    }
    #expect(check("salvage", page, "-o", scratch["copy"]) == ["error/1", "summary/1"])
  }

  @Test func everyLineAboutDamage() {
    let page = scratch["page"]
    let lines = (1...9).map { "{\"key\":\"k\($0)\",\"value\":\"v\"}\n" }.joined()
    check("import", page, input: lines)
    PageFile.flipBit(at: 200, of: page + "/0000000000.journal")
    #expect(check("verify", page) == ["finding/1", "page/1", "summary/1"])
    #expect(check("replay", page) == ["finding/1", "record/1", "summary/1"])
    #expect(check("replay", "--policy", "strict", page) == ["error/1", "summary/1"])
    #expect(check("salvage", page, "-o", scratch["copy"]) == ["finding/1", "page/1", "summary/1"])
    #expect(check("import", page) == ["finding/1", "summary/1"])
    #expect(check("forget", page) == ["error/1", "summary/1"])
    #expect(check("forget", "--yes", page) == ["loss/1", "summary/1"])
  }
}
