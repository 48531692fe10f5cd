import { expect, it } from 'vitest'
import { giveBack } from '../src/process/give-back.ts'

const MB = 1e6

it('what was taken for a moment is given back', () => {
  giveBack()
  const before = process.memoryUsage().heapTotal
  let kept: object[] | undefined = Array.from({ length: 1_000_000 }, (_, i) => ({ i }))
  expect(kept.length).toBe(1_000_000)
  const most = process.memoryUsage().heapTotal
  expect(most - before).toBeGreaterThan(20 * MB)
  kept = undefined
  giveBack()
  expect(process.memoryUsage().heapTotal - before).toBeLessThan((most - before) / 4)
})
