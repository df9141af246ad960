@testable import LogStore

/// A page directory made of any bytes.
///
/// A byte of choices (bits 0 and 1 the policy, bit 2 whether checksums are made to fit), then files: a byte of name (low
/// four bits the generation; bit 7: a snapshot; bit 6: a temporary file; bit 5: a quarantine), three bytes of length, the
/// bytes themselves. The last file ends where the input does.
struct PageInput {
  var policy: RecoveryPolicy
  var isResealed: Bool
  var files: [String: [UInt8]] = [:]

  init(_ bytes: [UInt8]) {
    var input = InputBytes(bytes)
    let choices = input.byte()
    policy = RecoveryPolicy.allCases[Int(choices & 3) % RecoveryPolicy.allCases.count]
    isResealed = choices & 4 != 0
    while !input.isEmpty {
      let name = input.byte()
      let content = input.take(Int(input.number(bytes: 3)))
      let isSnapshot = name & 0x80 != 0
      files[PageInput.name(name)] = isResealed ? Resealing.reseal(content, isSnapshot: isSnapshot) : content
    }
  }

  private static func name(_ byte: UInt8) -> String {
    let generation = String(byte & 0x0F)
    let number = String(repeating: "0", count: 10 - generation.count) + generation
    if byte & 0x20 != 0 { return number + ".0000000000000080.quarantine" }
    return number + (byte & 0x80 != 0 ? ".snapshot" : ".journal") + (byte & 0x40 != 0 ? ".tmp" : "")
  }
}
