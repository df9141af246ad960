extension KeyIndex {
  /// Makes room for `records` in an index that is still small.
  mutating func reserve(_ records: Int, _ memory: inout PagedMemory) {
    // At most nine tenths of the limit on average, as buckets differ by chance.
    var wanted = 0
    while wanted < min(largestDepth, 20), records > (bucketLimit * 9 / 10) << wanted { wanted += 1 }
    guard wanted > depth, let entries = smallContents(memory.map) else { return }
    while depth < wanted { doubleDirectory(&memory) }
    // From the last on: a bucket's first place in the directory, where it stays, comes after all its others.
    for index in (0..<UInt32(1) << UInt32(depth)).reversed() {
      let old = bucket(index, memory.map)
      if index >> UInt32(KeyBucket(slot: memory.page(old)).depth) == 0 {
        KeyBucket(slot: memory.writablePage(old)).reset(depth: depth)
      } else {
        let fresh = memory.allocatePage()
        KeyBucket(slot: memory.writablePage(fresh)).reset(depth: depth)
        setBucket(index, fresh, &memory)
      }
    }
    for entry in entries { insert(SlotRef(raw: UInt32(truncatingIfNeeded: entry)), tag: UInt32(entry >> 32), &memory) }
  }

  /// All entries of an index of a few buckets, each a tag and a record; nil where it is larger.
  func smallContents(_ map: PageMap) -> [UInt64]? {
    guard depth <= 4 else { return nil }
    var entries: [UInt64] = []
    for index in 0..<UInt32(1) << UInt32(depth) {
      let bucket = KeyBucket(slot: map.page(bucket(index, map)))
      if bucket.next != 0 { return nil }
      if index >> UInt32(bucket.depth) != 0 { continue }
      for place in 0..<KeyBucket.places where bucket.entry(place) != 0 { entries.append(bucket.entry(place)) }
    }
    return entries
  }

  @inline(never)
  mutating func insertIntoFull(_ ref: SlotRef, _ tag: UInt32, _ memory: inout PagedMemory) {
    while true {
      let number = bucket(tag, memory.map)
      let bucket = KeyBucket(slot: memory.writablePage(number))
      if bucket.count < bucketLimit { return bucket.add(ref, tag) }
      if bucket.depth >= largestDepth { return chain(ref, tag, after: bucket, &memory) }
      split(number, tag, &memory)
    }
  }

  private func chain(_ ref: SlotRef, _ tag: UInt32, after first: KeyBucket, _ memory: inout PagedMemory) {
    var last = first
    while last.next != 0 {
      last = KeyBucket(slot: memory.writablePage(last.next))
      if last.count < bucketLimit { return last.add(ref, tag) }
    }
    let number = memory.allocatePage()
    let bucket = KeyBucket(slot: memory.writablePage(number))
    bucket.reset(depth: first.depth)
    bucket.add(ref, tag)
    last.next = number
  }

  /// Divides a bucket by the next bit of its entries' tags.
  private mutating func split(_ number: UInt32, _ tag: UInt32, _ memory: inout PagedMemory) {
    let low = KeyBucket(slot: memory.writablePage(number))
    let shared = low.depth
    if shared == depth { doubleDirectory(&memory) }
    let bit = UInt32(1) << UInt32(shared)

    let copy = memory.allocatePage()
    let other = memory.allocatePage()
    let old = KeyBucket(slot: memory.writablePage(copy))
    let high = KeyBucket(slot: memory.writablePage(other))
    old.slot.copy(from: low.slot, bytes: MemorySlot.pageBytes)
    low.reset(depth: shared + 1)
    high.reset(depth: shared + 1)
    for place in 0..<KeyBucket.places {
      let entry = old.entry(place)
      if entry == 0 { continue }
      let tag = UInt32(truncatingIfNeeded: entry >> 32)
      (tag & bit == 0 ? low : high).add(SlotRef(raw: UInt32(truncatingIfNeeded: entry)), tag)
    }
    memory.freePage(copy)

    var index = tag & (bit - 1) | bit
    while index < 1 << UInt32(depth) {
      setBucket(index, other, &memory)
      index += bit << 1
    }
  }

  private mutating func doubleDirectory(_ memory: inout PagedMemory) {
    let count = 1 << depth
    if count < KeyIndex.entriesPerDirectoryPage {
      memory.writablePage(directory).move(from: 0, to: count * 4, bytes: count * 4)
    } else {
      let pages = count / KeyIndex.entriesPerDirectoryPage
      let new = memory.allocateRun(pages * 2)
      for index in 0..<pages * 2 {
        let from = memory.page(directory + UInt32(index % pages))
        memory.writablePage(new + UInt32(index)).copy(from: from, bytes: MemorySlot.pageBytes)
      }
      for index in 0..<pages { memory.freePage(directory + UInt32(index)) }
      directory = new
    }
    depth += 1
  }

  private func setBucket(_ index: UInt32, _ bucket: UInt32, _ memory: inout PagedMemory) {
    memory.writablePage(directory + index >> 10).store(bucket, at: Int(index & 1023) << 2)
  }
}
