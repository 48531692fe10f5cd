import { expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import { VideoTable } from '../src/refresh/video-table.ts'
import { createNumbers } from './support/video-numbers.ts'

it('a failure is recorded for videos without data, and for no others', () => {
  const table = new VideoTable(() => false)
  table.use(['known', 'new'], 'a collection')
  table.recordNumbers(['known'], [createNumbers('known')], 1, 1, 0)
  expect(table.recordFault(['known', 'new', 'forgotten'], errors.UPSTREAM_UNAVAILABLE())).toEqual(['new'])
  expect(table.getFault(['known'])).toBeUndefined()
  expect(table.getFault(['known', 'new'])).toMatchObject({ id: 'new', fault: { code: 'UPSTREAM_UNAVAILABLE' } })
  expect(table.getUntried(['known', 'new'])).toEqual([])
})

it('a reading has the age of its oldest numbers by both clocks, and states the time of the newest', () => {
  const table = new VideoTable(() => false)
  table.use(['a', 'b', 'c', 'unknown'], 'a collection')
  table.recordNumbers(['a'], [createNumbers('a')], 10, 100, 0)
  table.recordNumbers(['b'], [createNumbers('b')], 30, 50, 0)
  table.recordNumbers(['c'], [], 20, 70, 0)
  const snapshot = { asOf: 10, since: 30, missing: ['c'] }
  for (const ids of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
    ['b', 'c', 'a'],
  ])
    expect(table.read(ids)).toMatchObject({ at: 50, snapshot })
  expect(table.read(['unknown', 'c', 'a'])).toMatchObject({
    at: 70,
    snapshot: { asOf: 10, since: 20, missing: ['c'], unknown: ['unknown'] },
  })
  expect(table.read(['b'])).toEqual({ at: 50, snapshot: { videos: [createNumbers('b')], missing: [], asOf: 30 } })
  expect(table.read(['unknown'])).toBeUndefined()
  expect(table.read([])).toMatchObject({ snapshot: { videos: [], missing: [] } })
})
