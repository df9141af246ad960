import Foundation
import Testing

/// Public data that people made: pen strokes, and the edits of a paper from its first character to its last.
///
/// The data is not part of the repository. It is looked for where `LOGSTORE_REAL_INPUT` says, or beside the checkout.
@Suite(.serialized) struct RealInputTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  static let input: String? = {
    let named = ProcessInfo.processInfo.environment["LOGSTORE_REAL_INPUT"]
    let path = named ?? root.deletingLastPathComponent().appending(path: "shared").path
    let isThere = FileManager.default.fileExists(atPath: path + "/tools/real-input.py")
    if !isThere { print("SKIPPED: real input is not at \(path); 2 tests of it do not run") }
    return isThere ? path : nil
  }()

  let scratch = Scratch()

  private func make(_ arguments: String, _ name: String) throws {
    let input = try #require(RealInputTests.input)
    let made = Tool.shell("python3 '\(input)/tools/real-input.py' \(arguments) > \(name)", in: scratch.path)
    try #require(made.exit == 0, "\(made)")
  }

  @Test(.enabled(if: input != nil)) func everyStrokeComesBack() throws {
    try make("ink", "ink.jsonl")
    let result = Tool.shell(
      """
      set -e
      $logctl import page < ink.jsonl
      $logctl replay page > before.jsonl
      $logctl compact page
      $logctl replay page > after.jsonl
      $logctl verify page
      cmp before.jsonl after.jsonl
      sed 's/^{"op": *"put", */{/; s/": "/":"/; s/", "value/","value/; s/": "/":"/' ink.jsonl | cmp - after.jsonl
      wc -l < after.jsonl
      """, in: scratch.path)
    #expect(result.exit == 0, "\(result)")
    #expect(result.lines.last == "2154")
  }

  @Test(.enabled(if: input != nil)) func aPaperIsWrittenCharacterByCharacter() throws {
    try make("churn automerge-paper", "churn.jsonl")
    let input = try #require(RealInputTests.input)
    let result = Tool.shell(
      """
      set -e
      python3 - '\(input)/data/traces/automerge-paper.json.gz' > end.txt <<'EOF'
      import gzip, json, sys
      sys.stdout.write(json.load(gzip.open(sys.argv[1]))["endContent"])
      EOF
      $logctl import page --batch 7 < churn.jsonl
      $logctl replay --values page | cmp - end.txt
      $logctl compact --keep all page
      $logctl replay --values page | cmp - end.txt
      $logctl verify page
      python3 '\(RealInputTests.root.path)/Tests/Conformance/reader.py' replay --values page | cmp - end.txt
      # The text after so many operations, from the page's history and from the beginning of the input.
      for lsn in 777 70000; do
        $logctl replay --values --at $lsn page > past.txt
        head -n $lsn churn.jsonl > past.jsonl
        rm -rf past && $logctl import past --batch 1000 < past.jsonl
        $logctl replay --values past | cmp - past.txt
      done
      """, in: scratch.path)
    #expect(result.exit == 0, "\(result)")
  }
}
