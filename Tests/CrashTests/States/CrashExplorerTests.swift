import LogStore
import LogStoreTesting
import Testing

/// The explorer as an application's developer uses it, on stores that do too little.
@Suite struct CrashExplorerTests {
  struct Lost: Error, Equatable {
    var what: String
    init(_ what: String) { self.what = what }
  }

  @Test func theExampleOfTheDocumentation() throws {
    let explorer = CrashExplorer<String>(
      workload: { storage, acknowledgements in
        let page = try Page(path: "/notes", options: storage.pageOptions)
        try page.put("milk", for: "shopping")
        acknowledgements.acknowledge("shopping")
      },
      check: { storage, acknowledged in
        let view = try Page(path: "/notes", options: storage.pageOptions).view()
        for key in acknowledged where try view.value(for: key) == nil { throw Lost(key) }
      })
    let report = try explorer.explore()
    #expect(report.failure == nil, "\(report)")
    #expect(report.distinct > 500 && report.states >= report.distinct)
  }

  /// With the usual options the engine would compact and sync beside this, at times that no seed decides.
  @Test func aPageWithTheOptionsOfItsDiskMakesTheSameCallsEveryTime() throws {
    func calls() throws -> [Call] {
      let storage = SimulatedStorage(seed: 9)
      let page = try Page(path: "/notes", options: storage.pageOptions)
      // More than it takes to make a compaction due, and a sync.
      for number in 0..<40 {
        try page.put([UInt8](repeating: UInt8(number), count: 1 << 18), for: [1], durability: .process)
      }
      for number in 0..<20 { try page.put("\(number)", for: "b") }
      try page.close()
      return storage.calls
    }
    let first = try calls()
    #expect(try calls() == first)
    // The journal when it is made, the writes that ask for it, and the mark that closes it.
    #expect(first.count { $0.operation == .sync } == 22)
    #expect(!first.contains { $0.name.contains("snapshot") })
  }

  /// Saves a file by writing another and renaming it, with or without what makes that last.
  private func saving(
    syncsFile: Bool = true, syncsNames: Bool = true, renames: Bool = true, acknowledgesFirst: Bool = false,
    level: Durability = .power
  ) -> CrashExplorer<String> {
    CrashExplorer(
      workload: { storage, acknowledgements in
        let toy = try Toy(storage)
        if acknowledgesFirst { acknowledgements.acknowledge("text", survives: level) }
        let file = try toy.directory.open(renames ? "tmp" : "f", .createNew)
        try toy.write("text", to: file, at: 0)
        if syncsFile { try file.sync(.power) }
        if renames { try toy.directory.rename("tmp", to: "f") }
        if syncsNames { try toy.syncNames() }
        acknowledgements.acknowledge("text", survives: level)
      },
      check: { storage, acknowledged in
        let text = Toy.text(storage, "f")
        for wanted in acknowledged where text != wanted { throw Lost(wanted) }
      })
  }

  @Test func whoSyncsAllLosesNothing() throws {
    var explorer = saving()
    explorer.profiles = CrashProfile.allCases
    let report = try explorer.explore()
    #expect(report.failure == nil, "\(report)")
    #expect(report.distinct > 20)
  }

  @Test func aMissingSyncOfTheFileIsFoundAndReplayed() throws {
    let explorer = saving(syncsFile: false)
    let failure = try #require(try explorer.explore().failure)
    #expect(failure.identity.hasPrefix("strict."))
    #expect(throws: Lost("text")) { try explorer.replay(failure.identity) }
    // The same state does no harm to those who sync.
    #expect(throws: UnknownState.self) { try saving().replay("strict.99.b0") }
    try saving().replay("strict.0.b0")
  }

  @Test(arguments: [true, false])
  func aMissingSyncOfTheDirectoryIsFound(renames: Bool) throws {
    let explorer = saving(syncsNames: false, renames: renames)
    let failure = try #require(try explorer.explore().failure)
    #expect(throws: Lost("text")) { try explorer.replay(failure.identity) }
  }

  @Test func aFileSystemThatCommitsAllHidesAMissingSyncOfTheDirectory() throws {
    var explorer = saving(syncsNames: false, renames: false)
    explorer.profiles = [.ordered]
    #expect(try explorer.explore().failure == nil)
  }

  @Test func whatSurvivesOnlyTheProcessIsAskedForOnlyAfterKills() throws {
    #expect(try saving(syncsFile: false, syncsNames: false, level: .process).explore().failure == nil)
    let failure = try #require(try saving(acknowledgesFirst: true, level: .process).explore().failure)
    #expect(failure.identity.hasPrefix("kill."))
  }

  @Test func aCrashWithinARecoveryIsFoundOnlyByNesting() throws {
    var explorer = saving()
    // Rewrites the file at every start, and removes the old one first.
    let careless = CrashExplorer<String>.Nested { storage, _ in
      let toy = try Toy(storage)
      guard let text = Toy.text(storage, "f") else { return }
      try toy.directory.remove("f")
      let file = try toy.file("f", text)
      try toy.syncNames()
      file.close()
    }
    #expect(try explorer.explore().failure == nil)
    explorer.nested = careless
    let failure = try #require(try explorer.explore().failure)
    #expect(failure.identity.split(separator: "/").count == 2)
    #expect(throws: Lost("text")) { try explorer.replay(failure.identity) }
  }

  @Test func whatIsAcknowledgedAfterACrashIsAskedForAfterTheNext() throws {
    var explorer = CrashExplorer<String>(
      workload: { storage, _ in _ = try Toy(storage) },
      check: { storage, acknowledged in
        for name in acknowledged where Toy.text(storage, name) == nil { throw Lost(name) }
      })
    explorer.nested = .init { storage, acknowledgements in
      let toy = try Toy(storage)
      _ = try toy.file("g", "more")
      acknowledgements.acknowledge("g")
    }
    let failure = try #require(try explorer.explore().failure)
    #expect(failure.identity.contains("/"))
    #expect(throws: Lost("g")) { try explorer.replay(failure.identity) }
  }

  @Test func aFailureOfWhatRunsAfterACrashIsReplayed() throws {
    var explorer = saving()
    explorer.nested = .init { storage, _ in if Toy.text(storage, "f") == nil { throw Lost("no file") } }
    let failure = try #require(try explorer.explore().failure)
    #expect(throws: Lost("no file")) { try explorer.replay(failure.identity) }
  }

  /// One profile may promise less than another of the same disk, and as many things.
  @Test func theSameDiskIsCheckedAgainstEachPromise() throws {
    var explorer = CrashExplorer<String>(
      workload: { storage, acknowledgements in
        let toy = try Toy(storage)
        acknowledgements.acknowledge("a", survives: .ordered)
        // The disk stays what it is.
        try toy.syncNames()
        acknowledgements.acknowledge("b", survives: .power)
      },
      check: { storage, acknowledged in
        if acknowledged == ["b"] { throw Lost("b") }
      })
    explorer.kills = false
    explorer.profiles = [.strict]
    #expect(try explorer.explore().failure != nil)
    explorer.profiles = [.ordered, .strict]
    #expect(try explorer.explore().failure != nil)
  }
}
