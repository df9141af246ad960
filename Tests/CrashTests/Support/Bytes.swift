/// The bytes of a text, in UTF-8.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
