import CrashHarness
import Glibc

exit(CrashCommand.run(Array(CommandLine.arguments.dropFirst())))
