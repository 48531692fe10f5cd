import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Log } from '../src/log.ts'
import { APPEND_KIND, SWAP_KIND, TextStateMachine } from './support/text-state-machine.ts'

/** Implementation of the log under test. */
export interface LogAlternative {
  /** Opens the log of a state machine; without one, a new log. */
  open(stateMachine: TextStateMachine): Promise<Log>
  /** Opens the same log again, as after a restart of the process. */
  reopen(stateMachine: TextStateMachine): Promise<Log>
}

const toBuffer = (value: string) => Buffer.from(value)
const appendText = (log: Log, value: string) => log.append<number>(APPEND_KIND, toBuffer(value))

/** Tests for every implementation of the log. @param create creates one for each test */
export function describeLog(name: string, create: () => LogAlternative): void {
  describe(`the log ${name}`, () => {
    it('resolves with the outcome of the state machine, once it has applied the entry', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const first = await appendText(log, 'a')
      expect(first.outcome).toBe(1)
      expect(stateMachine.texts).toEqual(['a'])
      expect(stateMachine.savedPosition!.seq).toBe(first.seq)
      expect(log.state.applied).toBe(first.seq)
      const second = await appendText(log, 'b')
      expect(second.outcome).toBe(2)
      expect(second.seq).toBeGreaterThan(first.seq)
    })

    it('gives the entries of one turn one sequence, in their order', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const all = await Promise.all(Array.from({ length: 50 }, (_, i) => appendText(log, String(i))))
      expect(new Set(all.map(({ seq }) => seq)).size).toBe(1)
      expect(all.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
      expect(stateMachine.texts).toEqual(Array.from({ length: 50 }, (_, i) => String(i)))
    })

    it('evaluates a write when it is applied: of concurrent swaps, one succeeds', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const all = await Promise.all(['a', 'b', 'c'].map((to) => log.append(SWAP_KIND, toBuffer(`>${to}`))))
      expect(all.map(({ outcome }) => outcome)).toEqual([true, false, false])
      expect(stateMachine.register).toBe('a')
    })

    it('continues at its position after a restart of the process', async () => {
      const alternative = create()
      const stateMachine = new TextStateMachine()
      const log = await alternative.open(stateMachine)
      const { seq } = await appendText(log, 'a')
      await log.close()
      const reopened = await alternative.reopen(stateMachine)
      expect(reopened.epoch).toBe(log.epoch)
      expect(reopened.state.applied).toBeGreaterThanOrEqual(seq)
      const { seq: next, outcome } = await appendText(reopened, 'b')
      expect(next).toBeGreaterThan(seq)
      expect(outcome).toBe(2)
      expect(stateMachine.texts).toEqual(['a', 'b'])
    })

    it('resolves a barrier once all earlier entries are applied', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const appended = appendText(log, 'a')
      const seq = await log.barrier()
      expect(stateMachine.texts).toEqual(['a'])
      expect((await appended).seq).toBeLessThanOrEqual(seq)
      expect(log.state.applied).toBeGreaterThanOrEqual(seq)
      expect(await log.barrier()).toBeGreaterThanOrEqual(seq)
    })

    it('resolves when a sequence is applied, and rejects after the timeout', async () => {
      const log = await create().open(new TextStateMachine())
      const { seq } = await appendText(log, 'a')
      await log.waitForSequence(seq, 1)
      const ahead = log.waitForSequence(seq + 1, 60_000)
      await appendText(log, 'b')
      await ahead
      await expect(log.waitForSequence(seq + 100, 1)).rejects.toMatchObject({
        code: 'SEQUENCE_WAIT_TIMEOUT',
        status: 503,
      })
    })

    it('has a clock that does not go back', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const before = Date.now()
      for (let i = 0; i < 5; i++) await appendText(log, String(i))
      expect(stateMachine.times).toEqual(stateMachine.times.toSorted((a, b) => a - b))
      expect(Math.abs(stateMachine.times[0]! - before)).toBeLessThan(60_000)
    })

    it('applies any bodies as they are', async () => {
      const stateMachine = new TextStateMachine()
      const seen: Buffer[] = []
      stateMachine.apply = async (entries, position) => {
        stateMachine.savedPosition = structuredClone(position)
        return entries.map(({ body }) => seen.push(Buffer.from(body)))
      }
      const log = await create().open(stateMachine)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 20 }), async (bodies) => {
          seen.length = 0
          await Promise.all(bodies.map((body, i) => log.append(i, Buffer.from(body))))
          expect(seen).toEqual(bodies.map((body) => Buffer.from(body)))
        }),
        { numRuns: 20 },
      )
    })

    it('has one lease, which accepts entries only while it is held', async () => {
      const stateMachine = new TextStateMachine()
      const log = await create().open(stateMachine)
      const lease = log.openLease(60_000)
      await lease.waitUntilHeld()
      expect(lease.term).toBeGreaterThan(0)
      await lease.append(APPEND_KIND, toBuffer('polled'))
      await lease.close()
      expect(lease.term).toBeUndefined()
      await expect(lease.append(APPEND_KIND, toBuffer('late'))).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(stateMachine.texts).toEqual(['polled'])
    })

    it('trims and takes snapshots without a loss', async () => {
      const alternative = create()
      const stateMachine = new TextStateMachine()
      const log = await alternative.open(stateMachine)
      for (let i = 0; i < 5; i++) await appendText(log, String(i))
      const seq = await log.snapshot()
      expect(seq).toBeLessThanOrEqual(log.state.applied)
      await log.trim(seq)
      await appendText(log, 'after')
      await log.close()
      const reopened = await alternative.reopen(stateMachine)
      await appendText(reopened, 'again')
      expect(stateMachine.texts).toEqual(['0', '1', '2', '3', '4', 'after', 'again'])
    })

    it('rejects calls after close, which is idempotent', async () => {
      const log = await create().open(new TextStateMachine())
      await Promise.all([log.close(), log.close()])
      await expect(appendText(log, 'late')).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
      await expect(log.barrier()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    })
  })
}
