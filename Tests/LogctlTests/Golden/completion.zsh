#compdef logctl
# Completion of logctl for zsh.
_logctl() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C \
    '--version[Show the version.]' \
    '(-h --help)'{-h,--help}'[Show help information.]' \
    '1: :->command' \
    '*:: :->arguments'
  case $state in
    command)
      local -a commands
      commands=(
        'import:Write operations into a page, one JSON object a line.'
        'replay:Print a page'\''s records, or the frames that made them.'
        'compact:Write a page'\''s state into a new snapshot and remove what is no longer needed.'
        'verify:Read every byte of every generation, and say what is wrong.'
        'salvage:Copy everything readable into a new page.'
        'forget:Drop the losses that a page has on record.'
        'completion:Print a completion script.'
        'manual:Print the manual page.'
        'help:Show help information.'
      )
      _describe 'subcommand' commands
      ;;
    arguments)
      case $words[1] in
        import)
          _arguments -s -S \
            '--batch=[How many lines make one atomic batch. (default\: 1)]:lines:' \
            '--durability=[What each batch survives once it is written\: power, ordered or process. (default\: process, with one sync at the end)]:level:(power ordered process)' \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        replay)
          _arguments -s -S \
            '--values[Print the values as they are, joined by nothing.]' \
            '--at=[The state as it was after that many operations, or at that time (such as 2026-11-30T09\:00\:00Z), as far back as generations are kept.]:lsn or time:' \
            '--frames[Print every frame of the kept journals instead of the records.]' \
            '--from=[The first log sequence number to print.]:lsn:' \
            '--to=[The last log sequence number to print.]:lsn:' \
            '--policy=[What to do about damage\: strict refuses, salvage leaves out the damaged batches, pointInTime stops in front of the first. (default\: salvage, or pointInTime where the page holds an application'\''s own state)]:policy:(strict salvage pointInTime)' \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        compact)
          _arguments -s -S \
            '(-n --dry-run)'{-n,--dry-run}'[Say what would be freed, and change nothing.]' \
            '--keep=[What to leave of the past\: none, all, or that many older snapshots with every journal since. What was needed within the last ten minutes stays as well, except with none. (default\: the last verified snapshot and every journal since)]:none or all or count:(none all)' \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        verify)
          _arguments -s -S \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        salvage)
          _arguments -s -S \
            '(-o --output)'{-o+,--output=}'[Where to put the new page; must not exist.]:new:_files -/' \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        forget)
          _arguments -s -S \
            '(-y --yes)'{-y,--yes}'[Do not ask.]' \
            '--json[Print JSON Lines\: each line names its schema, and the summary comes last, also on failure.]' \
            '--color=[Color what people read\: auto, always or never. (default\: auto, which is on a terminal unless NO_COLOR is set)]:when:(auto always never)' \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:page:_files -/'
          ;;
        completion)
          _arguments -s -S \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1:shell:(bash zsh fish)'
          ;;
        manual)
          _arguments -s -S \
            '(-h --help)'{-h,--help}'[Show help information.]'
          ;;
        help)
          _arguments -s -S \
            '(-h --help)'{-h,--help}'[Show help information.]' \
            '1::subcommand:(import replay compact verify salvage forget completion manual help)'
          ;;
      esac
      ;;
  esac
}
_logctl "$@"
