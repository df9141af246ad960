import Testing

@testable import LogStore

@Test func frameKindsHaveNames() { #expect(FrameKind.put.description == "put") }
