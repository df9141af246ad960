# Completion of logctl for bash.
_logctl() {
  local current previous command word index
  current="${COMP_WORDS[COMP_CWORD]}"
  previous="${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "import replay compact verify salvage forget completion manual help --version -h --help" -- "$current"))
    return
  fi
  command="${COMP_WORDS[1]}"
  case "$command" in
    import)
      case "$previous" in
        --batch)
          return;;
        --durability)
          COMPREPLY=($(compgen -W "power ordered process" -- "$current"))
          return;;
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "--batch --durability --json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    replay)
      case "$previous" in
        --at)
          return;;
        --from)
          return;;
        --to)
          return;;
        --policy)
          COMPREPLY=($(compgen -W "strict salvage pointInTime" -- "$current"))
          return;;
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "--values --at --frames --from --to --policy --json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    compact)
      case "$previous" in
        --keep)
          COMPREPLY=($(compgen -W "none all" -- "$current"))
          return;;
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-n --dry-run --keep --json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    verify)
      case "$previous" in
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "--json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    salvage)
      case "$previous" in
        -o|--output)
          compopt -o filenames 2> /dev/null
          COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
          return;;
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-o --output --json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    forget)
      case "$previous" in
        --color)
          COMPREPLY=($(compgen -W "auto always never" -- "$current"))
          return;;
      esac
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-y --yes --json --color -h --help" -- "$current"))
        return
      fi
      compopt -o filenames 2> /dev/null
      COMPREPLY=($(IFS=$'\n'; compgen -d -- "$current"))
      ;;
    completion)
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help" -- "$current"))
        return
      fi
      COMPREPLY=($(compgen -W "bash zsh fish" -- "$current"))
      ;;
    manual)
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help" -- "$current"))
        return
      fi
      ;;
    help)
      if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "-h --help" -- "$current"))
        return
      fi
      COMPREPLY=($(compgen -W "import replay compact verify salvage forget completion manual help" -- "$current"))
      ;;
  esac
}
complete -F _logctl logctl
