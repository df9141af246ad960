@testable import LogStore

extension TableView {
  /// Walks the order tree and the key index, and checks every link, count and separator. Returns what is wrong, or nil,
  /// and what was reached.
  func checkStructure() -> (fault: String?, pages: Set<UInt32>, nodes: Int, buckets: Int) {
    let map = root.root.map
    var pages: Set<UInt32> = []
    var faults: [String] = []
    var records: Set<SlotRef> = []
    var baseEnd = 0
    var last = SlotRef.none
    var nodes = 0
    var bucketCount = 0

    func walk(_ ref: SlotRef, parent: SlotRef, height: Int?) -> Int {
      pages.insert(ref.page)
      nodes += 1
      let node = order.node(ref, map)
      if node.parent != parent { faults.append("a node's parent") }
      if let height, node.height != height { faults.append("a node's height") }
      if node.height == 0 {
        last = ref
        if node.count > order.leafLimit || (node.count == 0 && !parent.isNone) { faults.append("a leaf's size") }
        var ranges = 0
        var sum = 0
        for index in 0..<node.count {
          let entry = node.entry(index)
          sum += entry.count
          if entry.isRange {
            ranges += 1
            if entry.base.lowerBound < baseEnd { faults.append("ranges out of order") }
            baseEnd = entry.base.upperBound
          } else {
            pages.insert(entry.record.page)
            if !records.insert(entry.record).inserted { faults.append("a record twice") }
            if RecordSlot(slot: map.slot(entry.record)).leaf != ref { faults.append("a record's leaf") }
          }
        }
        if ranges != node.ranges { faults.append("a leaf's ranges") }
        return sum
      }
      if node.count == 0 || node.count > order.innerLimit || (parent.isNone && node.count < 2) {
        faults.append("an inner node's size")
      }
      var sum = 0
      for index in 0..<node.count {
        let endBefore = baseEnd
        let size = walk(node.child(index), parent: ref, height: node.height - 1)
        if size != node.size(index) { faults.append("a child's count: \(node.size(index)), not \(size)") }
        if baseEnd > endBefore, baseEnd > node.end(index) { faults.append("a separator is too low") }
        if node.end(index) > 0, endBefore > node.end(index) { faults.append("separators out of order") }
        sum += size
      }
      return sum
    }
    if walk(order.root, parent: .none, height: nil) != count { faults.append("the count") }
    if last != order.lastLeaf { faults.append("the last leaf") }

    var buckets: Set<UInt32> = []
    for entry in 0..<1 << index.depth {
      pages.insert(index.directory + UInt32(entry / KeyIndex.entriesPerDirectoryPage))
      buckets.insert(index.bucket(UInt32(entry), map))
    }
    var indexed = 0
    for first in buckets {
      var number = first
      while number != 0 {
        pages.insert(number)
        bucketCount += 1
        let bucket = KeyBucket(slot: map.page(number))
        if bucket.depth > index.depth { faults.append("a bucket's depth") }
        var entries = 0
        for place in 0..<KeyBucket.places {
          let mark = bucket.mark(place)
          if mark == 0 { continue }
          entries += 1
          let record = bucket.ref(place)
          if !records.contains(record) { faults.append("a key without a record in the order") }
          let tag = RecordSlot(slot: map.slot(record)).withKey { hash.tag($0) }
          if KeyBucket.mark(tag) != mark { faults.append("a mark") }
          if index.bucket(tag, map) != first { faults.append("a key in another bucket") }
        }
        if entries != bucket.count { faults.append("a bucket's count") }
        indexed += entries
        number = bucket.next
      }
    }
    if indexed != records.count { faults.append("\(indexed) keys of \(records.count) records") }
    return (faults.first, pages, nodes, bucketCount)
  }
}

extension RecordTable {
  /// What is wrong with the structure of the present state, pages that are in use but not reached included.
  func structureFault() -> String? {
    let (fault, pages, _, _) = view().checkStructure()
    if let fault { return fault }
    return pages.count == pageCounts.used ? nil : "\(pageCounts.used) pages in use, \(pages.count) reached"
  }
}
