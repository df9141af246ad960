/// A state of a disk whose recording was kept.
struct BlockCase: Replayable {
  static var tier: any Tier.Type { BlockTier.self }
  var folder: String
  var state: DiskState

  var description: String { "\(folder):\(state)" }

  init(folder: String, state: DiskState) {
    self.folder = folder
    self.state = state
  }

  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let state = DiskState(String(text[text.index(after: colon)...])) else {
      return nil
    }
    self.init(folder: String(text[..<colon]), state: state)
  }
}
