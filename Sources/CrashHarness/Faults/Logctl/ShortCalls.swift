/// Makes reads and writes of the shipped command short, which strace cannot: a library that the system loads in front of its
/// own, made by the system's compiler when it is needed.
struct ShortCalls: Sendable {
  enum Call: String, CaseIterable, Sendable { case read, write, pread, pwrite }

  private let folder = TemporaryFolder()
  private var library: String { folder.path + "/short.so" }

  init() throws(LogctlTools.Missing) {
    TemporaryFolder.write(Array(ShortCalls.source.utf8), to: folder.path + "/short.c")
    guard ChildProcess.succeeds("cc", "-shared", "-fPIC", "-O1", "-o", library, folder.path + "/short.c", "-ldl") else {
      throw LogctlTools.Missing(reason: "there is no C compiler, cc, to make the library of short calls with")
    }
  }

  /// For a shell, in front of the command: its calls of that name handle half of what they are given, the one of that
  /// number or all from it on. Calls of one byte cannot be halved, and do not count. `mark` comes into being when one is.
  func environment(_ call: Call, number: Int, on: Bool, mark: String) -> String {
    "env LD_PRELOAD=\(library) SHORT_CALL=\(call.rawValue) SHORT_NUMBER=\(number) SHORT_ON=\(on ? 1 : 0) SHORT_MARK=\(mark)"
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdatomic.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/types.h>
    #include <unistd.h>

    static atomic_long calls;

    static size_t handled(const char *name, size_t count) {
      const char *wanted = getenv("SHORT_CALL");
      if (count < 2 || wanted == NULL || strcmp(wanted, name) != 0) return count;
      long number = atol(getenv("SHORT_NUMBER")), call = ++calls;
      if (call != number && !(call > number && atoi(getenv("SHORT_ON")))) return count;
      close(open(getenv("SHORT_MARK"), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
      return count / 2;
    }

    #define NEXT(name, type) \\
      static type next; \\
      if (next == NULL) next = (type)dlsym(RTLD_NEXT, name);

    typedef ssize_t (*reading)(int, void *, size_t);
    typedef ssize_t (*writing)(int, const void *, size_t);
    typedef ssize_t (*readingAt)(int, void *, size_t, off_t);
    typedef ssize_t (*writingAt)(int, const void *, size_t, off_t);

    ssize_t read(int file, void *bytes, size_t count) {
      NEXT("read", reading)
      return next(file, bytes, handled("read", count));
    }
    ssize_t write(int file, const void *bytes, size_t count) {
      NEXT("write", writing)
      return next(file, bytes, handled("write", count));
    }
    ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
      NEXT("pread", readingAt)
      return next(file, bytes, handled("pread", count), offset);
    }
    ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
      NEXT("pread64", readingAt)
      return next(file, bytes, handled("pread", count), offset);
    }
    ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
      NEXT("pwrite", writingAt)
      return next(file, bytes, handled("pwrite", count), offset);
    }
    ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
      NEXT("pwrite64", writingAt)
      return next(file, bytes, handled("pwrite", count), offset);
    }

    """
}
