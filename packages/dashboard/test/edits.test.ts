import { expect, it } from 'vitest'
import { describeEdits } from '../src/page/core/counts.ts'
import { createFormats } from '../src/page/core/format.ts'
import type { EditTotals, Measure } from '../src/page/core/growth.ts'

const { count } = createFormats('en-US')
const describe = (edits: EditTotals, measure: Measure) => describeEdits(edits, measure, count)

it('edits state the counts that they add, and no counts of 0', () => {
  const edit = (videos: number, impressions: number) => ({ videos, impressions, engagements: 0 })
  expect(describe({ added: edit(3, 1_200), removed: edit(1, 50) }, 'impressions')).toEqual([
    '3 videos added: 1,200',
    '1 video removed: 50',
  ])
  expect(describe({ added: edit(3, 1_200) }, 'engagements')).toEqual(['3 videos added'])
  expect(describe({ added: edit(1, 0), removed: edit(2, 0) }, 'impressions')).toEqual([
    '1 video added',
    '2 videos removed',
  ])
  expect(describe({ added: edit(0, 70), removed: edit(0, 0) }, 'impressions')).toEqual(['counts added: 70'])
})
