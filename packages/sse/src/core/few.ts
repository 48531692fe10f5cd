/** Some things, one at least: a single one takes no set, which would be 200 bytes. */
export type Few<T extends object> = T | Set<T>

export function withOne<T extends object>(few: Few<T> | undefined, one: T): Few<T> {
  if (few === undefined || few === one) return one
  return few instanceof Set ? few.add(one) : new Set([few, one])
}

/** Nothing where no other is left. */
export function withoutOne<T extends object>(few: Few<T> | undefined, one: T): Few<T> | undefined {
  if (few === one) return undefined
  if (!(few instanceof Set)) return few
  few.delete(one)
  if (few.size > 1) return few
  const [last] = few
  return last
}

export const eachOf = <T extends object>(few: Few<T> | undefined): Iterable<T> =>
  few instanceof Set ? few : few === undefined ? [] : [few]

export const countOf = (few: Few<object> | undefined): number =>
  few instanceof Set ? few.size : few === undefined ? 0 : 1
