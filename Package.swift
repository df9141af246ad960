// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "LogStore",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "LogStore", targets: ["LogStore"]),
    .library(name: "LogStoreTesting", targets: ["LogStoreTesting"]),
    .executable(name: "logctl", targets: ["logctl"]),
  ],
  traits: [
    .trait(
      name: "Deflate",
      description: "Checksums and compresses with libdeflate instead of zlib. The files are the same either way."),
    .default(enabledTraits: ["Deflate"]),
  ],
  targets: [
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .systemLibrary(name: "CPlatform"),
    .target(
      name: "LogStore",
      dependencies: [
        "CPlatform",
        "CZlib",
        .target(name: "CDeflate", condition: .when(platforms: [.linux], traits: ["Deflate"])),
      ],
      swiftSettings: strict),
    .target(name: "LogStoreTesting", dependencies: ["LogStore"], swiftSettings: strict),
    .target(name: "LogctlCore", swiftSettings: strict),
    .target(name: "CrashHarness", dependencies: ["CPlatform", "LogStore", "LogStoreTesting"], swiftSettings: strict),
    .executableTarget(name: "crash", dependencies: ["CrashHarness"], swiftSettings: strict),
    .executableTarget(name: "logctl", dependencies: ["LogStore", "LogctlCore"], swiftSettings: strict),
    .testTarget(name: "LogStoreTests", dependencies: ["LogStore", "LogStoreTesting"], swiftSettings: strict),
    .testTarget(
      name: "ConsumerTests", dependencies: ["LogStore"], swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
    .testTarget(name: "ConformanceTests", dependencies: ["LogStore", "LogctlCore"], swiftSettings: strict),
    .testTarget(
      name: "CrashTests", dependencies: ["CrashHarness", "crash", "LogStore", "LogStoreTesting"],
      exclude: ["Scenarios.md"], swiftSettings: strict),
    .testTarget(
      name: "FuzzTests", dependencies: ["CrashHarness", "LogStore", "LogStoreTesting", "LogctlCore"], path: "Fuzz",
      exclude: ["README.md", "Driver", "Corpus", "FailCases", "build", "minimise", "run", "seed"],
      sources: ["Targets", "Replay"],
      swiftSettings: strict),
    .testTarget(
      name: "LogctlTests", dependencies: ["LogctlCore", "logctl"], exclude: ["Golden"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// Targets that a build is to do without, separated by commas: a sanitizer takes minutes for those that it is not to run.
let without = Set((Context.environment["LOGSTORE_WITHOUT"] ?? "").split(separator: ",").map(String.init))
package.targets.removeAll { without.contains($0.name) }
