internal import LogStore
