public import LogStore
internal import Synchronization

/// A disk in memory that can fail and lose its power.
///
/// It keeps apart what the cache shows and what the medium holds, for the bytes of every file and for the names in every
/// directory; fails chosen calls in chosen ways; and turns, at any moment, into one of the disks that a crash at that
/// moment may leave behind. All that happens is decided by seeds, so a failure can be replayed.
///
/// ```swift
/// let storage = SimulatedStorage(seed: 1)
/// var options = storage.pageOptions
/// let page = try Page(path: "/page", options: options)
/// try page.put("one", for: "a")                           // durable
/// try page.put("two", for: "b", durability: .process)     // in the cache
/// storage.fail(Fault(.sync, .failedSync(cache: .old)))    // the next sync fails, and the cache forgets
/// #expect(throws: LogStoreError.self) { try page.sync() }
/// options.storage = storage.crash(.powerCut(.dropUnsynced))
/// #expect(try Page(path: "/page", options: options).view().count == 1)
/// ```
///
/// What a crash may leave is said by ``CrashProfile``, enumerated by ``CrashStates``, and checked for a whole application by
/// ``CrashExplorer``.
///
/// All methods may be called from any thread.
public final class SimulatedStorage: Storage {
  let simulation: Mutex<Simulation>

  /// An empty disk with a root directory, `/`.
  ///
  /// - Parameter seed: decides the random bytes that the disk hands out: salts and identities.
  public init(seed: UInt64 = 0) { simulation = Mutex(Simulation(disk: Disk(), seed: seed)) }

  init(disk: Disk, seed: UInt64, clock: SimulatedClock, logsCalls: Bool = true) {
    var simulation = Simulation(disk: disk, seed: seed)
    simulation.clock = clock
    simulation.logsCalls = logsCalls
    self.simulation = Mutex(simulation)
  }

  // MARK: Storage

  public func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory {
    if create { try perform(.createDirectory, path) { (disk) throws(StorageError) in try disk.createDirectory(path) } }
    let node = try perform(.openDirectory, path) { (disk) throws(StorageError) in try disk.directory(at: path) }
    return SimulatedDirectory(self, node: node, path: path)
  }

  public func wallClock() -> Int64 { simulation.withLock { $0.clock.wall } }
  public func monotonicClock() -> Int64 { simulation.withLock { $0.clock.monotonic } }
  public func random() -> UInt64 { simulation.withLock { $0.random.next() } }

  // MARK: Calls

  /// Counts a call, lets a fault speak, and changes the disk. The path is made only for those who look at it.
  @discardableResult
  func perform<Result: Sendable>(
    _ operation: StorageError.Operation, _ path: @autoclosure () -> String, offset: UInt64? = nil, count: Int? = nil,
    _ body: (inout Disk) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try perform(
      operation, path(), offset: offset, count: count, otherwise: { (_, _) throws(StorageError) in nil }, body)
  }

  /// The same, for calls that have ways of their own to fail: `otherwise` answers nil to have the fault's error thrown.
  func perform<Result: Sendable>(
    _ operation: StorageError.Operation, _ path: @autoclosure () -> String, offset: UInt64? = nil, count: Int? = nil,
    otherwise: (inout Disk, Fault.Effect) throws(StorageError) -> Result?,
    _ body: (inout Disk) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    if let watch = simulation.withLock({ $0.watch }) {
      watch(Call(operation, path: path(), offset: offset, count: count))
    }
    return try simulation.withLock { (simulation) throws(StorageError) -> Result in
      simulation.disk.now = simulation.clock.wall
      simulation.callCount += 1
      if simulation.isUndisturbed { return try body(&simulation.disk) }
      let path = path()
      defer { simulation.endCall(operation) }
      let effect = try simulation.beginCall(Call(operation, path: path, offset: offset, count: count))
      do throws(StorageError) {
        guard let effect else { return try body(&simulation.disk) }
        if let result = try otherwise(&simulation.disk, effect) { return result }
        throw StorageError(operation, errno: effect.errno, path: path)
      } catch {
        simulation.noteFailure(error)
        throw error
      }
    }
  }
}
