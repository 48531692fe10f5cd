import * as fc from 'fast-check'

/** Mostly the first, which is also what a case shrinks to. */
export const pickMostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 12): fc.Arbitrary<T> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd })
/** Any of them. */
export const anyOf = <T>(...values: T[]) => fc.constantFrom(...values)
