import * as fc from 'fast-check'

/** Usually picks the first. A failing case shrinks to it, too. */
export const pickMostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 12): fc.Arbitrary<T> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd })
/** Picks any of the values. */
export const anyOf = <T>(...values: T[]) => fc.constantFrom(...values)
