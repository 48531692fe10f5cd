import { expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import { VideoLookup } from '../src/refresh/video-lookup.ts'

const ids = (count: number) => Array.from({ length: count }, (_, i) => `id${String(i).padStart(9, '0')}`)
const logger = { info() {} }

/** YouTube knows the ids that end in an even digit. */
function createLookup({ budget = 0, used = 0, canCall = (): boolean => true, fails = false } = {}) {
  const calls: string[][] = []
  let now = 0
  const caller = {
    async findVideos(requested: readonly string[]) {
      calls.push([...requested])
      if (fails) throw errors.UPSTREAM_UNAVAILABLE()
      return requested.filter((id) => Number(id.at(-1)) % 2 === 0).map((id) => ({ id, asOf: now }))
    },
  }
  const left = budget === 0 ? Infinity : budget - used
  const meter = { remainingQuota: { budget, left, untilReset: 1 } }
  return {
    calls,
    lookup: new VideoLookup({ caller, meter, logger, canCall, now: () => now }),
    advance: (ms: number) => void (now += ms),
  }
}

it('looks up 50 words with a call, and none twice within ten minutes', async () => {
  const { lookup, calls, advance } = createLookup()
  const result = await lookup.find(ids(60))
  expect(result).toMatchObject({ failed: [], found: { length: 30 } })
  expect(calls.map(({ length }) => length)).toEqual([50, 10])
  expect(await lookup.find(ids(60))).toEqual(result)
  expect(calls).toHaveLength(2)
  advance(600_001)
  await lookup.find(ids(1))
  expect(calls).toHaveLength(3)
})

it('makes at most four calls for one paste', async () => {
  const { lookup, calls } = createLookup()
  const { failed } = await lookup.find(ids(250))
  expect(calls).toHaveLength(4)
  expect(failed).toEqual(ids(250).slice(200))
})

it.each([
  ['the last tenth of the budget is left', { budget: 100, used: 90 }, 0],
  ['calls pause', { canCall: () => false }, 0],
  ['the call fails', { fails: true }, 1],
] as const)('reports words as not looked up if %s', async (_, options, made) => {
  const { lookup, calls } = createLookup(options)
  expect(await lookup.find(ids(3))).toEqual({ found: [], failed: ids(3) })
  expect(calls).toHaveLength(made)
})
