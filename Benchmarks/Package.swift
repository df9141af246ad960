// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "LogStore", path: "..")],
  targets: [
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"])]),
    .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"])]),
    .systemLibrary(name: "CLibDeflate", providers: [.apt(["libdeflate-dev"])]),
    .target(name: "CProbe"),
    .executableTarget(
      name: "benchmark",
      dependencies: [
        .product(name: "LogStore", package: "LogStore"),
        "CProbe", "CSQLite", "CLMDB", "CLevelDB", "CRocksDB", "CLibDeflate",
      ],
      linkerSettings: [
        .unsafeFlags(
          [
            // As in the static tool that the project ships; and all symbols are bound when the process starts, so that
            // no contestant pays for that inside what is measured.
            "-static-stdlib", "-Xlinker", "-z", "-Xlinker", "now",
            // The peers' libraries allocate through what counts allocations.
            "-Xlinker", "--export-dynamic-symbol=malloc", "-Xlinker", "--export-dynamic-symbol=calloc",
            "-Xlinker", "--export-dynamic-symbol=realloc", "-Xlinker", "--export-dynamic-symbol=memalign",
            "-Xlinker", "--export-dynamic-symbol=aligned_alloc", "-Xlinker", "--export-dynamic-symbol=posix_memalign",
          ], .when(platforms: [.linux]))
      ]),
  ],
  swiftLanguageModes: [.v6]
)
