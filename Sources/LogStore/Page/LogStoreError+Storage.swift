/// What a failed system call means to a caller.
extension LogStoreError {
  init(_ error: StorageError, offset: UInt64? = nil, lsn: UInt64? = nil) {
    let code: Code
    let remedy: String
    if error.isNoSpace {
      (code, remedy) = (.noSpace, "free some space and try again; nothing that was acknowledged is lost")
    } else if error.isOutOfDescriptors {
      (code, remedy) = (
        .unavailable,
        "close some files, or raise the limit on open files, and try again; nothing is known to be damaged"
      )
    } else if error.isUnavailable {
      (code, remedy) = (
        .unavailable, "check permissions, or try again once the device is unlocked; nothing is known to be damaged"
      )
    } else if error.errno == StorageError.isDirectory {
      (code, remedy) = (
        .foreignFile, "a directory stands in the place of one of the page's files; move it out of the page's directory"
      )
    } else if error.operation == .sync || error.operation == .syncDirectory || error.operation == .syncParent,
      error.isUnsupported
    {
      (code, remedy) = (
        .unsupported,
        "this file system cannot make writes durable; accept a weaker durability in the options, or use another one"
      )
    } else {
      (code, remedy) = (.io, "check the medium; `logctl salvage` copies around unreadable places")
    }
    self.init(
      code, "\(error.operation.rawValue): \(error.reason); \(remedy)", path: error.path, offset: offset, lsn: lsn,
      errno: error.errno, cause: error)
  }
}

/// Runs storage calls and says what a failure means.
@inline(__always)
func mapped<Result: ~Copyable>(
  offset: UInt64? = nil, _ body: () throws(StorageError) -> Result
) throws(LogStoreError) -> Result {
  do {
    return try body()
  } catch {
    throw LogStoreError(error, offset: offset)
  }
}

extension LogStoreError {
  /// `error` itself where it is the engine's own, as all are but those that come out of an application's code.
  static func own(_ error: any Error, _ what: String, path: String? = nil) -> LogStoreError {
    error as? LogStoreError ?? LogStoreError(.io, "\(what): \(error)", path: path, cause: error)
  }

  /// A directory that is no page: it is empty, or everything in it is somebody else's.
  static func noFiles(_ path: String) -> LogStoreError {
    LogStoreError(.notFound, "there is no page here: the directory holds none of its files", path: path)
  }
}
