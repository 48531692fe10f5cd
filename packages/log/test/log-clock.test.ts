import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { expect, it } from 'vitest'
import { LogClock } from '../src/jetstream/log-clock.ts'
import { createLogClock, createLogStateMemory, writeLogState } from '../src/log-state.ts'

const HOUR_MS = 3_600_000
const toIsoTime = (time: number) => new Date(time).toISOString()

it('is between request and reply, with the narrowest bounds of the last replies', () => {
  let now = 0
  const clock = new LogClock(() => now)
  const delays = [40, 5, 300, 20, 1_000, 7, 9, 11, 50, 60, 70]
  for (const [i, delay] of delays.entries()) {
    const sentAt = i * 1_000
    // The servers write the time halfway between the request and the reply.
    const time = HOUR_MS + sentAt + delay / 2
    now = sentAt + delay
    clock.addReply(toIsoTime(time), sentAt)
    const { min, max } = clock.offsets
    const closest = Math.min(...delays.slice(Math.max(0, i - 7), i + 1))
    expect(min).toBeLessThanOrEqual(HOUR_MS)
    expect(max).toBeGreaterThanOrEqual(HOUR_MS)
    expect(max - min).toBeLessThanOrEqual(closest + 1)
  }
})

it('follows a step of the clock of the servers, and ignores a reply without a time', () => {
  let now = 0
  const clock = new LogClock(() => now)
  clock.addReply(toIsoTime(2 * HOUR_MS), now)
  clock.addReply(undefined, now)
  clock.addReply('', now)
  expect(clock.offsets).toEqual({ min: 2 * HOUR_MS, max: 2 * HOUR_MS + 1 })
  for (let i = 0; i < 8; i++) {
    clock.addReply(toIsoTime(HOUR_MS + now), now)
    now++
  }
  expect(clock.offsets).toEqual({ min: HOUR_MS, max: HOUR_MS + 1 })
})

it.each([
  ['agrees with it', 0, 0],
  ['is a minute ahead', 60_000, 0],
  ['is a minute behind', -60_000, 0],
  ['is ahead by less than a reply takes', 3, 3],
])('is the clock of the servers if that of this machine %s', (_, ahead, error) => {
  const state = createLogStateMemory()
  const offset = readOffset() - ahead
  const clockOffsets = { min: offset - 5, max: offset + 5 }
  writeLogState(state, { applied: 1, known: 1, lastContactAt: steadyNow(), clockOffsets })
  const now = createLogClock(state)
  const before = Date.now() - ahead
  const time = now() - error
  const after = Date.now() - ahead
  expect(time - after).toBeLessThanOrEqual(2)
  // Never early: a clock that does not agree is replaced by the lower bound.
  expect(time - before).toBeGreaterThanOrEqual(ahead === error ? -2 : -7)
})

/** Returns by how much the clock of this machine is ahead of the monotonic one (ms), both read in the same millisecond. */
function readOffset(): number {
  for (;;) {
    const before = Date.now()
    const steady = steadyNow()
    if (Date.now() === before) return before - steady
  }
}
