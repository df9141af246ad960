/// The overlay's keys: an extendible hash table. A directory leads to buckets of a page each, with open addressing
/// inside; a bucket that fills up is split alone, so no write waits for the whole table to be rehashed.
struct KeyIndex: Sendable {
  /// Directory entries, as a power of two.
  var depth: Int
  /// The first of the consecutive pages of the directory.
  var directory: UInt32
  /// Entries that a bucket takes before it is split.
  let bucketLimit: Int
  /// The depth beyond which buckets are chained rather than split: only keys whose hashes collide get there.
  let largestDepth: Int
  /// A bucket does not keep the hash of a key as a whole: when it is split, it is computed again.
  let hash: KeyHash

  static let entriesPerDirectoryPage = 1024

  init(shape: TableShape, hash: KeyHash, memory: inout PagedMemory) {
    self.hash = hash
    bucketLimit = min(shape.bucketEntries, KeyBucket.places - 1)
    largestDepth = shape.directoryDepth
    depth = 0
    directory = memory.allocateRun(1)
    let bucket = memory.allocatePage()
    KeyBucket(slot: memory.writablePage(bucket)).reset(depth: 0)
    memory.writablePage(directory).store(bucket, at: 0)
  }

  @inline(__always)
  func bucket(_ tag: UInt32, _ map: PageMap) -> UInt32 {
    let index = tag & (1 << UInt32(depth) &- 1)
    return map.page(directory &+ index >> 10).load(Int(index & 1023) << 2)
  }

  /// Fetches what a search for `tag` will read: done for many keys before any is searched for, the processor waits for
  /// all of it at once.
  @inline(__always)
  func prefetch(_ tag: UInt32, _ map: PageMap) {
    let bucket = KeyBucket(slot: map.page(bucket(tag, map)))
    bucket.slot.prefetch(0)
    let home = KeyBucket.home(KeyBucket.mark(tag))
    // A search of a dozen places sometimes goes on into the next cache line.
    bucket.slot.prefetch(KeyBucket.marks &+ home << 1)
    bucket.slot.prefetch(KeyBucket.refs &+ home << 2)
  }

  /// Where a new key can be put: an empty place of the first bucket that its tag leads to.
  struct Gap {
    let number: UInt32
    /// The bucket as it was read.
    let bucket: KeyBucket
    let place: Int
  }

  /// The record with `key`; if there is none, where it can be put.
  @inline(__always)
  func search(_ key: RawSpan, tag: UInt32, _ map: PageMap) -> (SlotRef, Gap) {
    let number = bucket(tag, map)
    let bucket = KeyBucket(slot: map.page(number))
    let mark = KeyBucket.mark(tag)
    var place = KeyBucket.home(mark)
    while true {
      let found = bucket.mark(place)
      if found == 0 { break }
      if found == mark {
        let ref = bucket.ref(place)
        if RecordSlot(slot: map.slot(ref)).hasKey(key) {
          return (ref, Gap(number: number, bucket: bucket, place: place))
        }
      }
      place = KeyBucket.after(place)
    }
    let found = bucket.next == 0 ? SlotRef.none : find(key, tag: tag, in: bucket.next, map)
    return (found, Gap(number: number, bucket: bucket, place: place))
  }

  func find(_ key: RawSpan, tag: UInt32, _ map: PageMap) -> SlotRef { find(key, tag: tag, in: bucket(tag, map), map) }

  /// Searches a chain of buckets.
  private func find(_ key: RawSpan, tag: UInt32, in first: UInt32, _ map: PageMap) -> SlotRef {
    let mark = KeyBucket.mark(tag)
    var number = first
    repeat {
      let bucket = KeyBucket(slot: map.page(number))
      var place = KeyBucket.home(mark)
      while true {
        let found = bucket.mark(place)
        if found == 0 { break }
        if found == mark {
          let ref = bucket.ref(place)
          if RecordSlot(slot: map.slot(ref)).hasKey(key) { return ref }
        }
        place = KeyBucket.after(place)
      }
      number = bucket.next
    } while number != 0
    return .none
  }

  /// Adds a key that is not there.
  @inline(__always)
  mutating func insert(_ ref: SlotRef, tag: UInt32, _ memory: inout PagedMemory) {
    let bucket = KeyBucket(slot: memory.writablePage(bucket(tag, memory.map)))
    if bucket.count < bucketLimit { bucket.add(ref, tag) } else { insertIntoFull(ref, tag, &memory) }
  }

  /// Adds a key where the search for it has ended, with nothing done to the index since.
  @inline(__always)
  mutating func insert(_ ref: SlotRef, tag: UInt32, at gap: Gap, _ memory: inout PagedMemory) {
    let bucket = KeyBucket(slot: memory.writablePage(gap.number, known: gap.bucket.slot))
    if bucket.count < bucketLimit { bucket.put(ref, tag, at: gap.place) } else { insertIntoFull(ref, tag, &memory) }
  }

  func remove(_ ref: SlotRef, tag: UInt32, _ memory: inout PagedMemory) {
    var number = bucket(tag, memory.map)
    while number != 0 {
      let bucket = KeyBucket(slot: memory.writablePage(number))
      if bucket.remove(ref, tag) { return }
      number = bucket.next
    }
    assertionFailure("a record is missing from the key index")
  }
}

/// A page of the key index: eight bytes of header and 680 places of six bytes. A place is a mark, which stands for the high
/// half of a tag, and a record. The marks come first, side by side, so that a search reads little memory.
struct KeyBucket {
  static let places = 680
  static let marks = 8
  static let refs = marks + 2 * places

  let slot: MemorySlot

  /// What stands for a tag; 0 is an empty place.
  @inline(__always)
  static func mark(_ tag: UInt32) -> UInt16 { max(1, UInt16(truncatingIfNeeded: tag >> 16)) }

  /// Where the search for a mark begins.
  @inline(__always)
  static func home(_ mark: UInt16) -> Int { (Int(mark) &* places) >> 16 }

  @inline(__always)
  static func after(_ place: Int) -> Int { place &+ 1 == places ? 0 : place &+ 1 }

  var count: Int {
    @inline(__always) get { Int(slot.load(0, as: UInt16.self)) }
    @inline(__always) nonmutating set { slot.store(UInt16(truncatingIfNeeded: newValue), at: 0) }
  }
  /// How many low bits of the tag all entries share.
  var depth: Int {
    get { Int(slot.load(2, as: UInt16.self)) }
    nonmutating set { slot.store(UInt16(newValue), at: 2) }
  }
  /// The next bucket of a chain of colliding entries, or 0.
  var next: UInt32 {
    @inline(__always) get { slot.load(4) }
    nonmutating set { slot.store(newValue, at: 4) }
  }

  @inline(__always)
  func mark(_ place: Int) -> UInt16 { slot.load(KeyBucket.marks &+ place << 1) }

  /// The record at a place that is not empty.
  @inline(__always)
  func ref(_ place: Int) -> SlotRef { SlotRef(raw: slot.load(KeyBucket.refs &+ place << 2)) }

  @inline(__always)
  private func set(_ place: Int, _ mark: UInt16, _ ref: SlotRef) {
    slot.store(mark, at: KeyBucket.marks &+ place << 1)
    slot.store(ref.raw, at: KeyBucket.refs &+ place << 2)
  }

  func reset(depth: Int) {
    slot.zero(bytes: KeyBucket.refs)
    self.depth = depth
  }

  @inline(__always)
  func add(_ ref: SlotRef, _ tag: UInt32) {
    var place = KeyBucket.home(KeyBucket.mark(tag))
    while mark(place) != 0 { place = KeyBucket.after(place) }
    put(ref, tag, at: place)
  }

  /// Fills an empty place.
  @inline(__always)
  func put(_ ref: SlotRef, _ tag: UInt32, at place: Int) {
    set(place, KeyBucket.mark(tag), ref)
    count &+= 1
  }

  /// Closes the gap, so that searches may stop at an empty place.
  func remove(_ ref: SlotRef, _ tag: UInt32) -> Bool {
    let wanted = KeyBucket.mark(tag)
    var gap = KeyBucket.home(wanted)
    while mark(gap) != wanted || self.ref(gap) != ref {
      if mark(gap) == 0 { return false }
      gap = KeyBucket.after(gap)
    }
    var place = gap
    while true {
      place = KeyBucket.after(place)
      let mark = mark(place)
      if mark == 0 { break }
      // An entry may move back to the gap if its search passes the gap on its way here.
      let home = KeyBucket.home(mark)
      let searched = place >= home ? place - home : place - home + KeyBucket.places
      let distance = place >= gap ? place - gap : place - gap + KeyBucket.places
      if searched >= distance {
        set(gap, mark, self.ref(place))
        gap = place
      }
    }
    slot.store(UInt16(0), at: KeyBucket.marks + gap << 1)
    count -= 1
    return true
  }
}
