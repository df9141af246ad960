import LogStore

/// The example of the README, line by line but for the path; a test compares them.
func example(_ path: String) throws {
  // README begins
  let page = try Page(path: path)  // creates the page, or opens and recovers it
  if page.report.hasDamage { print(page.report.findings) }

  try page.put("Hello", for: "greeting")  // on the medium when this returns
  var batch = WriteBatch()  // all of it, or nothing
  try batch.put("first", for: "a")
  try batch.put("zeroth", for: "z", before: "a")  // records have an order
  try page.write(batch, durability: .process)  // handed to the kernel; sync() makes it durable

  let view = try page.view()  // a value: unaffected by later writes
  print(String(decoding: try view.value(for: "greeting") ?? [], as: UTF8.self), view.count)  // Hello 3
  try page.compact()  // writers go on meanwhile
  try page.close()
  // README ends
}
