import { expect, it } from 'vitest'
import { collectionChanges } from '../src/campaigns/collection-changes.ts'
import { planChange } from '../src/campaigns/import/import-plan.ts'

const source = (id: string) => ({ type: 'channel' as const, id })
const before = {
  id: 'c',
  revision: 1,
  created: 1,
  name: 'Spring',
  videos: ['a', 'b'],
  tags: ['x'],
  fees: [{ creator: 'Anna', amount: 1 }],
  sources: [source('UCa')],
  followed: { b: 'UCa' },
  refused: ['r'],
}

it('content with an id replaces a campaign', () => {
  const plan = planChange({ id: 'c', name: 'Late', videos: ['b', 'd'] }, before)
  expect(plan).toEqual({ state: 'changed', fields: { name: 'Late', videos: ['b', 'd'] }, added: 1, removed: 1 })
  const { revision: _revision, created: _created, ...same } = before
  expect(planChange(same, before)).toMatchObject({ state: 'unchanged', added: 0, removed: 0 })
  expect(planChange(same, undefined)).toMatchObject({ state: 'new', added: 2 })
})

it('content without an id is added to the campaign of its name', () => {
  const content = { name: 'Spring', videos: ['b', 'd'], tags: ['y'], fees: [{ creator: 'Bob', amount: 2 }] }
  const { state, fields, added, removed } = planChange({ ...content, sources: [source('UCb')] }, before)
  expect({ state, added, removed }).toEqual({ state: 'changed', added: 1, removed: 0 })
  expect(fields).toMatchObject({
    videos: ['a', 'b', 'd'],
    tags: ['x', 'y'],
    fees: [...before.fees, ...content.fees],
    sources: [source('UCa'), source('UCb')],
    followed: before.followed,
    refused: before.refused,
  })
  expect(planChange({ name: 'Spring', videos: [], cost: 5 }, before).fields).toMatchObject({ cost: 5 })
  expect(planChange({ name: 'Spring', videos: [], cost: 5 }, before).fields.fees).toBeUndefined()
})

it('an import keeps followed videos of its sources, and removed uploads', () => {
  const followed = { a: 'UCa', d: 'UCb', x: 'UCa' }
  const fields = { videos: ['a', 'd', 'a'], sources: [source('UCa')], followed, refused: ['r', 'd'] }
  expect(collectionChanges.import(undefined, 'c', fields)).toEqual({
    videos: ['a', 'd'],
    sources: [source('UCa')],
    followed: { a: 'UCa' },
    // A followed video that the list of videos lacks counts as removed.
    refused: ['r', 'x'],
  })
})
