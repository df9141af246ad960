/// Where a decoded string stands in the buffer that was parsed.
package struct Slice: Equatable, Sendable {
  package var start: Int
  package var count: Int

  package init(start: Int, count: Int) {
    self.start = start
    self.count = count
  }

  package static let empty = Slice(start: 0, count: 0)
}

/// What one line asks for. The slices point into the parsed buffer, where the strings were decoded in place.
package struct LineOperation: Equatable, Sendable {
  package enum Kind: UInt8, Sendable {
    case put, putBefore, remove, move, moveToEnd, clear
  }

  package var kind: Kind
  package var key = Slice.empty
  package var value = Slice.empty
  package var before = Slice.empty
  /// The number of the line, for who counts them.
  package var line: UInt64 = 0

  package init(_ kind: Kind) { self.kind = kind }
}
