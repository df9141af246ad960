public import LogStore
