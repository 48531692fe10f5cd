/** Returns the number of items, and how many remain after each test. An item takes tests until it fails one. */
export function explainTests<T>(all: Iterable<T>, tests: readonly ((one: T) => boolean)[]): number[] {
  const left = Array.from({ length: tests.length + 1 }, () => 0)
  for (const one of all) {
    left[0]!++
    for (let i = 0; i < tests.length && tests[i]!(one); i++) left[i + 1]!++
  }
  return left
}
