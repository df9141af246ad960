/// A permutation of the numbers below `count` that goes through all of them in big steps, so that the first few come from
/// everywhere.
package struct Spread {
  private let count: Int
  private let step: Int

  package init(over count: Int) {
    self.count = count
    // Of the golden ratio's multiples, whatever their number, no two are close. And a step that has no factor in common with
    // the count has none with anything that divides it: where a number's digits are choices, no choice is passed over.
    var step = max(1, count * 618 / 1000)
    while Spread.factor(step, count) != 1 { step += 1 }
    self.step = step
  }

  /// 0 stays 0.
  package subscript(number: Int) -> Int { number * step % count }

  private static func factor(_ left: Int, _ right: Int) -> Int { right == 0 ? left : factor(right, left % right) }
}
