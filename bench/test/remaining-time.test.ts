import { describe, expect, it } from 'vitest'
import { RemainingTime, type RunStep } from '../src/remaining-time.ts'

const ROUNDS = 7
/** Durations of a step without latencies (s), as in a table of short rows with one of several minutes. */
const DURATIONS: Readonly<Record<string, number>> = { a: 4, b: 5, c: 4.5, d: 6, trials: 150 }
const rows = Object.keys(DURATIONS)
const steps: RunStep[] = Array.from({ length: ROUNDS }, (_, round) =>
  rows.map((row) => ({ row, isPaced: round % 2 === 0 })),
).flat()

const toSeconds = ({ row, isPaced }: RunStep, speed: number) =>
  DURATIONS[row]! * speed * (isPaced && row !== 'trials' ? 1.8 : 1)

/** Returns each estimate as a multiple of the true remaining time, before each step. */
function listErrors(speed: number, published?: ReadonlyMap<string, number>): (number | undefined)[] {
  const remaining = new RemainingTime(steps, published)
  return steps.map((step, i) => {
    const truth = steps.slice(i).reduce((sum, one) => sum + toSeconds(one, speed), 0)
    const estimate = remaining.getSeconds()
    remaining.finishStep(step, toSeconds(step, speed))
    return estimate === undefined ? undefined : estimate / truth
  })
}

describe('the remaining time', () => {
  const published = new Map(rows.map((row) => [row, toSeconds({ row, isPaced: true }, 1)]))

  it.each([0.5, 1, 2])('is within 1.5 of the truth from the third step on, at %f of the published speed', (speed) => {
    for (const error of listErrors(speed, published).slice(2)) {
      expect(error).toBeGreaterThan(1 / 1.5)
      expect(error).toBeLessThan(1.5)
    }
  })

  it('is within 1.5 of the truth after the first round without published durations', () => {
    const errors = listErrors(1)
    expect(errors[0]).toBeUndefined()
    for (const error of errors.slice(rows.length)) {
      expect(error).toBeGreaterThan(1 / 1.5)
      expect(error).toBeLessThan(1.5)
    }
  })

  it('does not count rows that failed', () => {
    const remaining = new RemainingTime(steps, new Map([['a', 1]]))
    for (const row of rows.slice(1)) remaining.skipRow(row)
    expect(remaining.getSeconds()).toBe(ROUNDS)
    for (const step of steps.filter(({ row }) => row === 'a')) remaining.finishStep(step, 1)
    expect(remaining.getSeconds()).toBe(0)
  })
})
