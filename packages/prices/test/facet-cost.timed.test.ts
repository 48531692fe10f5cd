import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { expect, it } from 'vitest'
import { getFirstPrice, generateSamplePrices } from '../src/sample/sample-catalog.ts'
import { computeFacets } from '../src/search/facets/compute-facets.ts'
import { INDEXES } from './support/available-indexes.ts'
import { measureCpuSeconds, createTestView } from './support/catalog.ts'
import { speed, term, toCounts } from './support/facets.ts'
import { createPrice } from './support/prices.ts'

it('the sample takes 2 ms of an idle processor, for any selection', async () => {
  // Half of the sample in half of the time.
  const { view, index } = await createTestView(generateSamplePrices(25), 'roaring-offering')
  const { offeringId, groupId, charValues } = getFirstPrice()
  for (const chosen of [
    { charValues: [] },
    { groupId, charValues: charValues.slice(0, 2) },
    { offeringId, charValues },
    { charValues },
  ]) {
    const getFacets = () => computeFacets({ ...chosen, limit: 100 }, view, index)
    let least = Infinity
    for (let i = 0; i < 40; i++) least = Math.min(least, await measureCpuSeconds(getFacets))
    // Other processes, and a slower machine, can multiply the time.
    expect(1_000 * least).toBeLessThan(8)
  }
})

it.each(INDEXES)('yields to the event loop while %s counts 20,000 values', async (name) => {
  const allPrices = Array.from({ length: 20_000 }, (_, i) =>
    createPrice({ charValues: [speed(i), term(String(i % 7))] }),
  )
  const { view, index } = await createTestView(allPrices, name)
  const getFacets = () => computeFacets({ charValues: [term('1')], char: 'speed', limit: 3 }, view, index)
  await getFacets()
  const result = await getFacets()
  expect(toCounts(result.characteristics!.values[0])).toEqual([
    [1, 1],
    [8, 1],
    [15, 1],
  ])
  expect(result.count).toBe(Math.ceil((20_000 - 1) / 7))
  // The minimum of several runs: a garbage collection also blocks the loop.
  let share = 1
  for (let i = 0; i < 8; i++) {
    const { held, worked } = await measureLongestHold(getFacets)
    share = Math.min(share, held <= 10 ? 0 : held / worked)
  }
  expect(share).toBeLessThan(0.5)
})
