import { expect, it } from 'vitest'
import { errors } from '../src/errors.ts'
import { VideoTable } from '../src/video-table.ts'
import { numbersOf } from './support/numbers.ts'

it('a failure is told of videos of which nothing is known, and of no others', () => {
  const table = new VideoTable()
  table.use(['known', 'new'], 'a collection')
  table.learn(['known'], [numbersOf('known')], 1, 1)
  expect(table.fail(['known', 'new', 'forgotten'], errors.UPSTREAM_UNAVAILABLE())).toEqual(['new'])
  expect(table.fault(['known'])).toBeUndefined()
  expect(table.fault(['known', 'new'])).toMatchObject({ id: 'new', fault: { code: 'UPSTREAM_UNAVAILABLE' } })
  expect(table.untried(['known', 'new'])).toEqual([])
})
