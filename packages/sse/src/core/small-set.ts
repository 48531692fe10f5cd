/** A set of one or more items; an empty set is undefined. A single item needs no `Set`, which would take 200 bytes. */
export type SmallSet<T extends object> = T | Set<T>

/** Returns the set with the item. May change `set`. */
export function addToSet<T extends object>(set: SmallSet<T> | undefined, item: T): SmallSet<T> {
  if (set === undefined || set === item) return item
  return set instanceof Set ? set.add(item) : new Set([set, item])
}

/** Returns the set without the item; undefined if it is then empty. */
export function removeFromSet<T extends object>(set: SmallSet<T> | undefined, item: T): SmallSet<T> | undefined {
  if (set === item) return undefined
  if (!(set instanceof Set)) return set
  set.delete(item)
  if (set.size > 1) return set
  const [last] = set
  return last
}

export const iterateSet = <T extends object>(set: SmallSet<T> | undefined): Iterable<T> =>
  set instanceof Set ? set : set === undefined ? [] : [set]

export const getSetSize = (set: SmallSet<object> | undefined): number =>
  set instanceof Set ? set.size : set === undefined ? 0 : 1

/** Removes an item of a set in a map. Returns true if the set has other items. */
export function removeFromMap<T extends object>(map: Map<string, SmallSet<T>>, key: string, item: T): boolean {
  const remaining = removeFromSet(map.get(key), item)
  if (remaining) map.set(key, remaining)
  else map.delete(key)
  return remaining !== undefined
}
