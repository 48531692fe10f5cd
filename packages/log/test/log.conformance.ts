import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Log } from '../src/log.ts'
import { APPEND, SWAP, TextView } from './support/text-view.ts'

/** An alternative of the log. */
export interface Alternative {
  /** Opens the log that a view belongs to; without one, a new log. */
  open(view: TextView): Promise<Log>
  /** The same log again, as a process that starts anew has it. */
  reopen(view: TextView): Promise<Log>
}

const text = (value: string) => Buffer.from(value)
const add = (log: Log, value: string) => log.append<number>(APPEND, text(value))

/** What every log does. @param create makes one alternative a test */
export function describeLog(name: string, create: () => Alternative): void {
  describe(`the log ${name}`, () => {
    it('gives the outcome that the own view gave, once that has applied it', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const first = await add(log, 'a')
      expect(first.outcome).toBe(1)
      expect(view.texts).toEqual(['a'])
      expect(view.kept!.seq).toBe(first.seq)
      expect(log.state.applied).toBe(first.seq)
      const second = await add(log, 'b')
      expect(second.outcome).toBe(2)
      expect(second.seq).toBeGreaterThan(first.seq)
    })

    it('gives what is appended in one turn one place, in its order', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const all = await Promise.all(Array.from({ length: 50 }, (_, i) => add(log, String(i))))
      expect(new Set(all.map(({ seq }) => seq)).size).toBe(1)
      expect(all.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
      expect(view.texts).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
    })

    it('judges when it applies: of many that swap the same, one does', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const all = await Promise.all(['a', 'b', 'c'].map((to) => log.append(SWAP, text(`>${to}`))))
      expect(all.map(({ outcome }) => outcome)).toEqual([true, false, false])
      expect(view.register).toBe('a')
    })

    it('goes on where it was, in a process that starts anew', async () => {
      const alternative = create()
      const view = new TextView()
      const log = await alternative.open(view)
      const { seq } = await add(log, 'a')
      await log.close()
      const again = await alternative.reopen(view)
      expect(again.epoch).toBe(log.epoch)
      expect(again.state.applied).toBeGreaterThanOrEqual(seq)
      const { seq: next, outcome } = await add(again, 'b')
      expect(next).toBeGreaterThan(seq)
      expect(outcome).toBe(2)
      expect(view.texts).toEqual(['a', 'b'])
    })

    it('tells a barrier when all before is applied', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const appended = add(log, 'a')
      const seq = await log.barrier()
      expect(view.texts).toEqual(['a'])
      expect((await appended).seq).toBeLessThanOrEqual(seq)
      expect(log.state.applied).toBeGreaterThanOrEqual(seq)
      expect(await log.barrier()).toBeGreaterThanOrEqual(seq)
    })

    it('tells when a place is reached, and when it is not in time', async () => {
      const log = await create().open(new TextView())
      const { seq } = await add(log, 'a')
      await log.reached(seq, 1)
      const ahead = log.reached(seq + 1, 60_000)
      await add(log, 'b')
      await ahead
      await expect(log.reached(seq + 100, 1)).rejects.toMatchObject({ code: 'LOG_BEHIND', status: 503 })
    })

    it('has a clock that does not go back', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const before = Date.now()
      for (let i = 0; i < 5; i++) await add(log, String(i))
      expect(view.times).toEqual(view.times.toSorted((a, b) => a - b))
      expect(Math.abs(view.times[0]! - before)).toBeLessThan(60_000)
    })

    it('applies any bodies as they are', async () => {
      const view = new TextView()
      const seen: Buffer[] = []
      view.apply = async (entries, position) => {
        view.kept = structuredClone(position)
        return entries.map(({ body }) => seen.push(Buffer.from(body)))
      }
      const log = await create().open(view)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 20 }), async (bodies) => {
          seen.length = 0
          await Promise.all(bodies.map((body, i) => log.append(i, Buffer.from(body))))
          expect(seen).toEqual(bodies.map((body) => Buffer.from(body)))
        }),
        { numRuns: 20 },
      )
    })

    it('has one lease, of which work is done only while it is held', async () => {
      const view = new TextView()
      const log = await create().open(view)
      const lease = log.lease(60_000)
      await lease.held()
      expect(lease.term).toBeGreaterThan(0)
      await lease.append(APPEND, text('polled'))
      await lease.close()
      expect(lease.term).toBeUndefined()
      await expect(lease.append(APPEND, text('late'))).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(view.texts).toEqual(['polled'])
    })

    it('trims and takes snapshots without harm', async () => {
      const alternative = create()
      const view = new TextView()
      const log = await alternative.open(view)
      for (let i = 0; i < 5; i++) await add(log, String(i))
      const seq = await log.snapshot()
      expect(seq).toBeLessThanOrEqual(log.state.applied)
      await log.trim(seq)
      await add(log, 'after')
      await log.close()
      const again = await alternative.reopen(view)
      await add(again, 'again')
      expect(view.texts).toEqual(['0', '1', '2', '3', '4', 'after', 'again'])
    })

    it('fails what comes after its end, which comes once', async () => {
      const log = await create().open(new TextView())
      await Promise.all([log.close(), log.close()])
      await expect(add(log, 'late')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
      await expect(log.barrier()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    })
  })
}
