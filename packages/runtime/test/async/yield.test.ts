import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { yieldTurn } from '../../src/async/yield.ts'

const STEP_COUNT = 100
let now = 0

beforeEach(() => {
  now = 0
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: now * 1_000, system: 0 }))
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(async () => {
  vi.restoreAllMocks()
  // Other test files of this process use the module with the real clock.
  await nextTurn()
})

/** Does steps of 1 ms while other work takes `others` ms in each turn. @returns number of turns */
async function runAlongside(others: number, steps = STEP_COUNT): Promise<number> {
  let turns = 0
  let isDone = false
  async function takeTurns(): Promise<void> {
    for (; !isDone; turns++) {
      await nextTurn()
      now += others
    }
  }
  const ended = takeTurns()
  for (let i = 0; i < steps; i++) {
    now += 1
    await yieldTurn()
  }
  isDone = true
  await ended
  return turns
}

it.each([0, 20])('yields after 5 ms if other work takes %s ms', async (others) => {
  const turns = await runAlongside(others)
  expect(turns).toBeGreaterThanOrEqual(STEP_COUNT / 6)
  expect(turns).toBeLessThanOrEqual(STEP_COUNT / 4)
})

it('shares the time of a turn among all tasks, and lets each do one step', async () => {
  let turns = 0
  let isDone = false
  const counted = (async () => {
    for (; !isDone; turns++) await nextTurn()
  })()
  const work = async () => {
    for (let i = 0; i < 10; i++) {
      now += 1
      await yieldTurn()
    }
  }
  await Promise.all(Array.from({ length: 10 }, work))
  isDone = true
  await counted
  expect(turns).toBeGreaterThanOrEqual(7)
  expect(turns).toBeLessThanOrEqual(12)
})

it('continues for as long as other work took in an overload, so that it gets half of the time', async () => {
  const turns = await runAlongside(60)
  expect(turns).toBeLessThanOrEqual(5)
  expect(turns).toBeGreaterThanOrEqual(2)
})

it('delays other work by at most 100 ms', async () => {
  expect(await runAlongside(5_000, 250)).toBeGreaterThanOrEqual(3)
})
