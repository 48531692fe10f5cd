import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { expiryKey, timeBytes } from '../src/core/own-keys.ts'
import { revisionOf, toStored, valueOf } from '../src/core/stored.ts'
import type { Level } from '../src/store/commit.ts'
import { Expiring, expiryMemory } from '../src/store/expiries.ts'
import { createLiveReader } from '../src/store/live-reader.ts'

/** Content of the key from some moment on. */
interface State {
  readonly value: string | undefined
  readonly expiresAt: number | undefined
  /** Clock time of the write. */
  readonly at: number
}

const KEY = 'k'
const EXPIRY = expiryKey(Buffer.from(KEY))

it('a read tells what was there at one moment, whatever is written between its looks', () => {
  const write = fc.record({
    value: fc.constantFrom('put', 'put', 'delete', 'expire'),
    expiry: fc.option(fc.integer({ min: 95, max: 115 }), { nil: undefined }),
    passes: fc.nat(5),
  })
  fc.assert(
    fc.property(
      fc.array(write, { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.nat(2)),
      fc.infiniteStream(fc.nat(3)),
      (writes, steps, passes) => {
        const states: State[] = [{ value: undefined, expiresAt: undefined, at: 100 }]
        for (const { value, expiry, passes: ms } of writes) {
          const { at, ...before } = states.at(-1)!
          const isLive = before.value !== undefined && (before.expiresAt ?? Infinity) > at + ms
          if (value === 'put') states.push({ value: String(states.length), expiresAt: expiry, at: at + ms })
          else if (value === 'delete') states.push({ value: undefined, expiresAt: undefined, at: at + ms })
          else states.push({ ...before, ...(isLive && { expiresAt: expiry }), at: at + ms })
        }
        let now = 0
        let clock = 100
        const expiring = new Expiring(expiryMemory())
        /** Advances the clock and the writes between two reads of the reader. */
        function pass(): void {
          now = Math.min(now + steps.next().value, states.length - 1)
          clock = Math.max(clock + passes.next().value, states[now]!.at)
          if (states.slice(0, now + 1).some(({ expiresAt }) => expiresAt !== undefined)) expiring.begin()
        }
        vi.spyOn(Date, 'now').mockImplementation(() => {
          const read = clock
          pass()
          return read
        })
        const db = {
          getSync(key: Buffer | string) {
            pass()
            const { value, expiresAt } = states[now]!
            if (Buffer.isBuffer(key) && key.equals(EXPIRY))
              return expiresAt === undefined ? undefined : timeBytes(expiresAt)
            // An `expire` does not change the stored value.
            return value === undefined ? undefined : toStored(revisionOf(Number(value)), Buffer.from(value)).toString()
          },
        } as unknown as Level
        const begun = { state: now, clock }
        const found = createLiveReader(db, expiring).find(KEY)
        const answer = found === undefined ? undefined : String(valueOf(found))
        const possible: (string | undefined)[] = []
        for (let i = begun.state; i <= now; i++) {
          const { value, expiresAt = Infinity, at } = states[i]!
          const from = Math.max(begun.clock, at)
          const to = Math.min(clock, states[i + 1]?.at ?? Infinity)
          if (value !== undefined && expiresAt > from) possible.push(value)
          if (value === undefined || expiresAt <= to) possible.push(undefined)
        }
        expect(possible).toContain(answer)
      },
    ),
    { numRuns: 5_000 },
  )
  vi.restoreAllMocks()
})
