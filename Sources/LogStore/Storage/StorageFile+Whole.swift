/// What the engine does over the single calls of a file: go on after a short count, retry what was interrupted.
extension StorageFile {
  /// Reads until `buffer` is full or the file ends; returns the bytes read. `EINTR` is retried.
  func readFully(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      do throws(StorageError) {
        let count = try unsafe read(into: rest, at: offset + UInt64(done))
        if count == 0 { break }
        done += count
      } catch  where error.errno == StorageError.interrupted {
        continue
      }
    }
    return done
  }

  /// Writes all of `bytes`. On an error, `written` says how many certainly went before it.
  func writeFully(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, written: inout Int
  ) throws(StorageError) {
    written = 0
    while written < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
      do throws(StorageError) {
        let count = try unsafe write(rest, at: offset + UInt64(written))
        // No error and no byte: asking again would ask for ever.
        guard count > 0 else { throw StorageError(.write, errno: StorageError.inputOutput, path: "") }
        written += count
      } catch  where error.errno == StorageError.interrupted {
        continue
      }
    }
  }
}
