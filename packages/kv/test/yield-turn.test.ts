import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { waitTurn, yieldTurn } from '../src/core/yield-turn.ts'

const STEP_COUNT = 100
/** More than any process of tests uses (ms). */
const LATE_MS = 1e9
let now = 0

/** Sets the clock to 0, and ends every time slice. Other test files of this process use the module with the real clock. */
async function resetClock(): Promise<void> {
  now = LATE_MS
  const turn = yieldTurn()
  now = 0
  await turn
}

beforeEach(async () => {
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: now * 1_000, system: 0 }))
  await resetClock()
})
afterEach(async () => {
  await resetClock()
  vi.restoreAllMocks()
})

/** Does steps of 1 ms while other work takes `others` ms in each turn. @returns number of turns */
async function runAlongside(others: number, steps = STEP_COUNT): Promise<number> {
  // Ends the time slice of the previous run.
  now += 10_000
  let turns = 0
  let isDone = false
  async function takeTurns(): Promise<void> {
    for (; !isDone; turns++) {
      await waitTurn()
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

it.each([0, 20])('yields after each slice if other work takes %s ms', async (others) => {
  expect(await runAlongside(others)).toBeGreaterThanOrEqual(STEP_COUNT)
})

it('continues for as long as other work took in an overload, so that it gets half of the time', async () => {
  const turns = await runAlongside(60)
  expect(turns).toBeLessThanOrEqual(5)
  expect(turns).toBeGreaterThanOrEqual(2)
})

it('delays other work by at most 100 ms', async () => {
  expect(await runAlongside(5_000, 250)).toBeGreaterThanOrEqual(3)
})
