import { afterAll } from 'vitest'

const closers: (() => unknown)[] = []

afterAll(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
})

/** Has it done once the tests of the file are over; what came last is done first. */
export function onFileFinished(close: () => unknown): void {
  closers.push(close)
}
