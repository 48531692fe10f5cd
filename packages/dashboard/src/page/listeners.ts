import { useEffect, useState } from 'preact/hooks'

/** The functions to call when something happens. */
export class Listeners<Values extends unknown[] = []> {
  readonly #listeners = new Set<(...values: Values) => void>()

  /** @returns a function that removes the listener */
  add(listener: (...values: Values) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  notify(...values: Values): void {
    for (const listener of this.#listeners) listener(...values)
  }
}

/** A value that is read again when the listeners are called. */
export function useListened<T>(changes: Listeners, read: () => T): T {
  const [value, setValue] = useState(read)
  useEffect(() => {
    const follow = () => setValue(read)
    follow()
    return changes.add(follow)
  }, [changes])
  return value
}
