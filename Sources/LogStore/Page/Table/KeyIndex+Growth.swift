extension KeyIndex {
  /// Makes room for `records` in an index that is still small.
  mutating func reserve(_ records: Int, _ memory: inout PagedMemory) {
    // At most nine tenths of the limit on average, as buckets differ by chance.
    var wanted = 0
    while wanted < min(largestDepth, 20), records > (bucketLimit * 9 / 10) << wanted { wanted += 1 }
    guard wanted > depth, let records = smallContents(memory.map) else { return }
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
    for record in records { insert(record, tag: tag(record, memory.map), &memory) }
  }

  private func tag(_ record: SlotRef, _ map: PageMap) -> UInt32 {
    RecordSlot(slot: map.slot(record)).withKey { hash.tag($0) }
  }

  /// All records of an index of a few buckets; nil where it is larger.
  func smallContents(_ map: PageMap) -> [SlotRef]? {
    guard depth <= 4 else { return nil }
    var records: [SlotRef] = []
    for index in 0..<UInt32(1) << UInt32(depth) {
      let bucket = KeyBucket(slot: map.page(bucket(index, map)))
      if bucket.next != 0 { return nil }
      if index >> UInt32(bucket.depth) != 0 { continue }
      for place in 0..<KeyBucket.places where bucket.mark(place) != 0 { records.append(bucket.ref(place)) }
    }
    return records
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

  /// Divides a bucket by the next bit of its keys' tags.
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
    // Keys lie anywhere: asked for all together, they are there when they are hashed.
    for place in 0..<KeyBucket.places where old.mark(place) != 0 { memory.slot(old.ref(place)).prefetch(0) }
    for place in 0..<KeyBucket.places where old.mark(place) != 0 {
      let record = old.ref(place)
      let tag = self.tag(record, memory.map)
      (tag & bit == 0 ? low : high).add(record, tag)
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
