/// Every kind of line that `--json` prints. Members may be added to a schema without a new number behind its slash;
/// none is taken away or changes its meaning.
package enum LineTable {
  private static let all = ["import", "replay", "compact", "verify", "salvage", "forget"]

  package static let lines: [LineSpec] =
    [record, frame, finding, loss, compactedPage, verifiedPage, salvagedPage, warning, error]
    + all.map { command in
      LineSpec(
        kind: "summary", commands: [command], meaning: "The last line of every run of \(command).",
        members: summary + (totals[command] ?? []) + [
          .optional("seconds", "how long the run took"),
          .optional("message", "why the command line was refused; then nothing but status and exit comes with it"),
        ])
    }

  private static let page = LineSpec.Member.required("page", "the page's path")
  private static let status = LineSpec.Member.required(
    "status",
    "the exit code's name: clean, failed, damage, benign, usage, malformed, no-page, cannot-create, io, "
      + "locked or interrupted")

  private static let record = LineSpec(
    kind: "record", commands: ["replay"], meaning: "A record, in page order.",
    members: [
      page, .optional("key", "the key"), .optional("key64", "the key as base64 where it is not UTF-8"),
      .optional("value", "the value"), .optional("value64", "the value as base64 where it is not UTF-8"),
    ])

  private static let frame = LineSpec(
    kind: "frame", commands: ["replay"], meaning: "A frame of a journal, with --frames.",
    members: [
      page,
      .required("lsn", "the log sequence number of the operation, or of the last one before a frame that is none"),
      .required("generation", "the number of the journal"),
      .required("offset", "where the frame begins in the file"),
      .required("length", "bytes of its payload"),
      .required("kind", "put, put-before, remove, move, clear, part, mark, loss, or application- and a number"),
      .required("end", "whether the frame is the last of its batch"),
      .optional("key", "the key that the frame is about"),
      .optional("key64", "the same as base64 where it is not UTF-8"),
      .optional("time", "of a mark: when it was written"),
      .optional("durableEnd", "of a mark: the offset before which everything was durable then"),
      .optional("closed", "of a mark: whether the writer had finished"),
    ])

  private static let finding = LineSpec(
    kind: "finding", commands: all, meaning: "Something out of the ordinary about a page.", members: found)

  private static let loss = LineSpec(
    kind: "loss", commands: ["forget"],
    meaning: "A recorded loss that was dropped. Its members are those of a finding.",
    members: found, described: "finding")

  private static let found: [LineSpec.Member] = [
    page,
    .required(
      "kind",
      "torn-tail, not-closed, damaged-frame, damaged-header, impossible, damaged-snapshot, missing, cut-off, "
        + "recorded-loss, off-chain, temporary, stranger, copied, quarantine or clock; others may come"),
    .required("severity", "note (harmless), benign (what a crash leaves behind) or damage"),
    .required("file", "the file's name inside the page's directory"),
    .optional("offset", "where the bytes concerned begin"),
    .optional("length", "how many they are, where that is known"),
    .optional("firstLsn", "the first log sequence number concerned"),
    .optional("lastLsn", "the last one"),
    .required("detail", "what was expected there and what was found"),
    .optional("lostOperations", "how many operations are lost at most"),
    .optional("keys", "objects with key or key64: what the lost operations touched, as far as it can be read"),
    .optional("remedy", "the command to run next"),
  ]

  private static let compactedPage = LineSpec(
    kind: "page", commands: ["compact"], meaning: "A page that was compacted, or would be.",
    members: [
      page,
      .required("dryRun", "whether nothing was changed"),
      .required("generation", "the number of the new snapshot"),
      .required("lsn", "operations since the page was created"),
      .required("records", "records in the snapshot"),
      .required("snapshotBytes", "bytes of the snapshot"),
      .required("bytesBefore", "bytes of the directory before"),
      .required("bytesAfter", "bytes of the directory after"),
      .required("removedFiles", "names of the files removed"),
      .required("keptFiles", "names of the older files kept"),
    ])

  private static let verifiedPage = LineSpec(
    kind: "page", commands: ["verify"], meaning: "A page that was verified, behind its findings.",
    members: [
      page, status,
      .required("position", "the position of its state: the journal's salt and the log sequence number"),
      .required("lsn", "operations since the page was created"),
      .required("findings", "how many findings there are"),
      .required("lostOperations", "how many operations are lost at most"),
      .required("files", "files read"),
      .required("frames", "frames that verified"),
      .required("bytes", "bytes read"),
    ])

  private static let salvagedPage = LineSpec(
    kind: "page", commands: ["salvage"],
    meaning: "A page that was salvaged, behind the findings about what is missing.",
    members: [
      page, status,
      .required("output", "the new page's path"),
      .required("records", "records copied"),
      .required("bytes", "bytes of their keys and values"),
    ])

  private static let warning = LineSpec(
    kind: "warning", commands: ["import", "replay", "compact", "forget"],
    meaning: "Something that went wrong beside the work, and did not stop it.",
    members: [
      page, .required("code", "the engine's error code"),
      .required("message", "what went wrong, and what to do about it"),
    ])

  private static let error = LineSpec(
    kind: "error", commands: all, meaning: "Why a page, or the whole run, failed.",
    members: [
      .optional("page", "the page's path"), status,
      .optional("code", "the engine's error code"),
      .optional("path", "the file or directory concerned"),
      .optional("offset", "where in the file"),
      .optional("lsn", "the log sequence number concerned"),
      .optional("errno", "the system's error number"),
      .required("message", "what went wrong, and what to do about it"),
    ])

  private static let summary: [LineSpec.Member] = [status, .required("exit", "the exit code")]

  /// What the summary of each command adds; absent where the command line was refused.
  private static let totals: [String: [LineSpec.Member]] = [
    "import": [
      .optional("lines", "lines read"), .optional("batches", "batches written"),
      .optional("operations", "operations in them"), .optional("bytes", "bytes of input"),
      .optional("readingSeconds", "time spent on reading the input"),
      .optional("parsingSeconds", "time spent on its JSON"),
      .optional("engineSeconds", "time spent in the engine: opening, writing, syncing and closing"),
    ],
    "replay": [
      .optional("pages", "pages printed"), .optional("records", "records printed"),
      .optional("frames", "frames printed, with --frames"), .optional("bytes", "bytes of them"),
    ],
    "compact": [
      .optional("dryRun", "whether nothing was changed"), .optional("pages", "pages compacted"),
      .optional("records", "their records"), .optional("bytesBefore", "bytes of their directories before"),
      .optional("bytesAfter", "bytes of their directories after"),
    ],
    "verify": [
      .optional("pages", "pages tried"), .optional("clean", "pages without a finding above a note"),
      .optional("benign", "pages with benign findings"), .optional("damaged", "pages with damage"),
      .optional("failed", "pages that could not be verified"), .optional("findings", "findings on all of them"),
      .optional("lostOperations", "how many operations are lost at most"), .optional("files", "files read"),
      .optional("frames", "frames that verified"), .optional("bytes", "bytes read"),
    ],
    "salvage": [
      .optional("pages", "pages salvaged"), .optional("records", "records copied"),
      .optional("bytes", "bytes of their keys and values"),
      .optional("lostOperations", "how many operations are lost at most"),
    ],
    "forget": [.optional("pages", "pages gone through"), .optional("losses", "losses dropped")],
  ]
}
