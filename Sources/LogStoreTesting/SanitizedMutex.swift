#if SANITIZED_LOCKS
  internal import LogStore

  typealias Mutex = SanitizedMutex
#endif
