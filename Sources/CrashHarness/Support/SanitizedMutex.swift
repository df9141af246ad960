#if SANITIZED_LOCKS
  import LogStore

  typealias Mutex = SanitizedMutex
#endif
