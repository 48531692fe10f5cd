import { afterAll } from 'vitest'

const closers: (() => unknown)[] = []

afterAll(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

/** Calls `close` after the tests of the file. The last registered call runs first. */
export function onFileFinished(close: () => unknown): void {
  closers.push(close)
}
