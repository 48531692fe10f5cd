import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { toExpiryKey, encodeTime } from '../src/core/internal-keys.ts'
import { toRevision, toStored, getValue } from '../src/core/stored-value.ts'
import type { KvDatabase } from '../src/store/commit.ts'
import { TtlState, createTtlMemory } from '../src/store/ttl.ts'
import { createLiveReader } from '../src/store/live-reader.ts'

/** Content of the key from some moment on. */
interface EntryState {
  readonly value: string | undefined
  readonly expiresAt: number | undefined
  /** Clock time of the write. */
  readonly at: number
}

const KEY = 'k'
const EXPIRY_KEY = toExpiryKey(Buffer.from(KEY))

it('a read returns the state of one moment, for any writes between its lookups', () => {
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
        const states: EntryState[] = [{ value: undefined, expiresAt: undefined, at: 100 }]
        for (const { value, expiry, passes: ms } of writes) {
          const { at, ...before } = states.at(-1)!
          const isLive = before.value !== undefined && (before.expiresAt ?? Infinity) > at + ms
          if (value === 'put') states.push({ value: String(states.length), expiresAt: expiry, at: at + ms })
          else if (value === 'delete') states.push({ value: undefined, expiresAt: undefined, at: at + ms })
          else states.push({ ...before, ...(isLive && { expiresAt: expiry }), at: at + ms })
        }
        let now = 0
        let clock = 100
        const expiring = new TtlState(createTtlMemory())
        /** Advances the clock and the writes between two reads of the reader. */
        function passTime(): void {
          now = Math.min(now + steps.next().value, states.length - 1)
          clock = Math.max(clock + passes.next().value, states[now]!.at)
          if (states.slice(0, now + 1).some(({ expiresAt }) => expiresAt !== undefined)) expiring.enable()
        }
        vi.spyOn(Date, 'now').mockImplementation(() => {
          const read = clock
          passTime()
          return read
        })
        const db = {
          getSync(key: Buffer | string) {
            passTime()
            const { value, expiresAt } = states[now]!
            if (Buffer.isBuffer(key) && key.equals(EXPIRY_KEY))
              return expiresAt === undefined ? undefined : encodeTime(expiresAt)
            // An `expire` does not change the stored value.
            return value === undefined ? undefined : toStored(toRevision(Number(value)), Buffer.from(value)).toString()
          },
        } as unknown as KvDatabase
        const begun = { state: now, clock }
        const found = createLiveReader(db, expiring).find(KEY)
        const answer = found === undefined ? undefined : String(getValue(found))
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
