/// Which batches of a damaged journal replay comes to: SPEC.md, section 7, followed over the places of the frames alone.
///
/// A frame that no damage has touched verifies, every other does not, and none stands elsewhere than where it was written:
/// its checksum covers its place and its file.
struct FrameWalk {
  private let frames: [Int: FramePlace]
  private let order: [FramePlace]
  private let bytes: [UInt8]
  private let limit: Int
  /// From here on what does not verify is a torn tail; nil where all is damage.
  private let tornFrom: Int?

  /// - Parameters:
  ///   - frames: where the file's frames stood.
  ///   - changes: the bytes that are no longer what they were.
  ///   - bytes: the file as it is.
  ///   - limit: where the log goes on in another file.
  init(_ frames: [FramePlace], _ changes: [Range<Int>], _ bytes: [UInt8], limit: Int, tornFrom: Int?) {
    let limit = min(limit, bytes.count)
    order = frames.filter { frame in
      frame.end <= limit && !changes.contains { $0.overlaps(frame.offset..<frame.end) }
    }
    self.frames = Dictionary(uniqueKeysWithValues: order.map { ($0.offset, $0) })
    self.bytes = bytes
    self.limit = limit
    self.tornFrom = tornFrom
  }

  /// Where the batches start that replay applies.
  ///
  /// - Parameter skips: what earlier recoveries have dropped, in the order of the file.
  func taken(skipping skips: [Range<Int>]) -> Set<Int> {
    var taken: Set<Int> = []
    var place = 128
    for skip in skips where skip.upperBound > place {
      guard run(from: &place, to: min(skip.lowerBound, limit), &taken) else { return taken }
      place = max(place, skip.upperBound)
    }
    _ = run(from: &place, to: limit, &taken)
    return taken
  }

  /// Returns false at a torn tail.
  private func run(from place: inout Int, to end: Int, _ taken: inout Set<Int>) -> Bool {
    var start: Int?
    while place < end {
      if let frame = frames[place], frame.end <= end, frame.isFirst == (start == nil) {
        start = start ?? place
        place = frame.end
        guard frame.isLast, let first = start else { continue }
        taken.insert(first)
        start = nil
        continue
      }
      if let tornFrom, place >= tornFrom { return false }
      start = nil
      guard let next = firstFrame(behind: place, end) else { return tornFrom == nil }
      place = next
    }
    return true
  }

  /// The next frame that begins a batch.
  private func firstFrame(behind fault: Int, _ end: Int) -> Int? {
    var place = fault
    while place < end {
      if let frame = frames[place], frame.end <= end {
        if frame.isFirst, place > fault { return place }
        place = frame.end
      } else if let next = resume(after: place, end) {
        place = next
      } else {
        return nil
      }
    }
    return nil
  }

  private func resume(after fault: Int, _ end: Int) -> Int? {
    var pointed = end
    if fault + 9 <= end {
      let next = fault + 9 + Int(FramePlace.integer(bytes, fault, 4))
      if next < end, let frame = frames[next], frame.end <= end { pointed = next }
    }
    for frame in order where frame.offset > fault && frame.end <= pointed {
      if frame.kind == 8 || frame.end == end { return frame.offset }
      if let next = frames[frame.end], next.end <= end { return frame.offset }
    }
    return pointed < end ? pointed : nil
  }
}

extension FramePlace {
  var isFirst: Bool { type & 0x40 != 0 }
  var isLast: Bool { type & 0x80 != 0 }
}
