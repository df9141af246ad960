import Testing

@testable import LogctlCore

@Suite struct TextTests {
  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567"),
    (UInt64.max, "18,446,744,073,709,551,615"),
  ])
  func groupsDigits(_ value: UInt64, _ expected: String) {
    #expect(Quantity.count(value) == expected)
  }

  @Test func agreesInNumber() {
    #expect(Quantity.count(0, "record") == "0 records")
    #expect(Quantity.count(1, "record") == "1 record")
    #expect(Quantity.count(2000, "batch", plural: "batches") == "2,000 batches")
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1004, "1.00 kB"), (1005, "1.01 kB"), (9994, "9.99 kB"),
    (9995, "10.0 kB"), (99_949, "99.9 kB"), (99_950, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"),
    (1_500_000, "1.50 MB"), (14_200_000_000, "14.2 GB"), (999_999_999_999_999_999, "1.00 EB"),
    (UInt64.max, "18.4 EB"),
  ])
  func roundsBytes(_ value: UInt64, _ expected: String) {
    #expect(Quantity.bytes(value) == expected)
  }

  @Test(arguments: [
    (0, "0.000 s"), (3_600_000, "0.004 s"), (999_499_999, "0.999 s"), (999_500_000, "1.00 s"),
    (1_234_000_000, "1.23 s"),
    (9_994_000_000, "9.99 s"), (9_995_000_000, "10.0 s"), (12_350_000_000, "12.4 s"), (59_949_000_000, "59.9 s"),
    (59_950_000_000, "1 min 00 s"), (185_000_000_000, "3 min 05 s"), (7_800_000_000_000, "2 h 10 min"),
  ])
  func roundsDurations(_ nanoseconds: UInt64, _ expected: String) {
    #expect(Quantity.duration(nanoseconds: nanoseconds) == expected)
  }

  @Test(arguments: [
    ("notes", "notes"), ("/a/b-c_d.e", "/a/b-c_d.e"), ("", "''"), ("my notes", "'my notes'"), ("it's", "'it'\\''s'"),
    ("$HOME", "'$HOME'"), ("~", "'~'"), ("-n", "./-n"), ("-my notes", "'./-my notes'"), ("a\nb", "$'a\\x0ab'"),
    ("a\u{1B}'b", "$'a\\x1b\\'b'"), ("Zeichnung ä", "'Zeichnung ä'"), ("\u{202E}x", "$'\\xe2\\x80\\xaex'"),
  ])
  func quotesForTheShell(_ word: String, _ expected: String) {
    #expect(ShellQuoting.quote(word) == expected)
  }

  @Test(arguments: [
    ("plain é😀", "plain é😀"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{1B}[31m", "\\u{1b}[31m"), ("\u{202E}", "\\u{202e}"),
    ("\u{7F}\u{9B}", "\\u{7f}\\u{9b}"),
  ])
  func keepsTheTerminalSafe(_ text: String, _ expected: String) {
    #expect(Printable.text(text) == expected)
  }

  @Test(arguments: [
    ("logctl compact PAGE", "logctl compact 'my page'"),
    ("look for a copy of PAGE; or not", "look for a copy of 'my page'; or not"),
    ("PAGE", "'my page'"), ("PAGES of a PAGER, PAGEPAGE, _PAGE", "PAGES of a PAGER, PAGEPAGE, _PAGE"), ("", ""),
  ])
  func putsThePathIntoARemedy(_ remedy: String, _ expected: String) {
    #expect(Remedy.text(remedy, page: "my page") == expected)
  }

  @Test func showsKeys() {
    #expect(Printable.key(Array("c17".utf8)) == "\"c17\"")
    #expect(Printable.key([0xFF, 0x00, 0x0A]) == "0xff000a")
    #expect(Printable.key(Array(repeating: 0x61, count: 70), limit: 3) == "\"aaa…\"")
  }

  @Test func describesProgress() {
    #expect(ProgressText.describe("writing", 0, nil, nanoseconds: 0) == "writing 0 B")
    #expect(
      ProgressText.describe("writing", 2_000_000, nil, nanoseconds: 2_000_000_000) == "writing 2.00 MB, 1.00 MB/s")
    #expect(
      ProgressText.describe("verifying", 1_000_000_000, 4_000_000_000, nanoseconds: 2_000_000_000)
        == "verifying 1.00 GB of 4.00 GB, 500 MB/s, 6 s left")
  }
}
