public import LogStore

extension SimulatedStorage {
  /// Options for pages on this disk, under which a workload makes the same calls every time: what a ``CrashExplorer`` and its
  /// `replay` need.
  ///
  /// Nothing compacts and nothing syncs but what the workload calls for. Set whatever else the application sets; where it
  /// leaves compaction to the engine, the workload calls `compact()` where one might come.
  public var pageOptions: PageOptions {
    var options = PageOptions()
    options.storage = self
    options.compaction = .manual
    // Never: it is longer than any `Int64` of nanoseconds.
    options.syncAfter = .seconds(Int64.max)
    options.syncAfterBytes = .max
    return options
  }
}
