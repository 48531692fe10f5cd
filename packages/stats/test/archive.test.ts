import { expect, it, onTestFinished } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { Poller } from '../src/refresh/poller.ts'
import { createMapState } from '../src/state/map-state.ts'
import { FakeClient } from './support/fake-client.ts'
import { createNumbers } from './support/video-numbers.ts'

/** A poller that has loaded collections of these videos, with numbers of the given age (ms). */
async function start(rows: Record<string, { videos: string[]; archived?: boolean; age?: number }>) {
  const state = createMapState()
  for (const [id, { age, ...collection }] of Object.entries(rows)) {
    await state.put({ id, revision: 1, ...collection })
    const snapshot = { videos: collection.videos.map((video) => createNumbers(video, 5)), missing: [] }
    if (age !== undefined) await state.putSnapshots([{ id, snapshot: { ...snapshot, asOf: Date.now() - age } }])
  }
  const client = new FakeClient()
  client.down = true
  const collections = new CollectionsOwner({
    state,
    retention: DAY_MS,
    onChange: (id, c) => poller.onCollectionChange(id, c),
  })
  const poller: Poller = new Poller({
    collections,
    client,
    meter: new QuotaMeter(QuotaMeter.createMemory(), 0),
    logger: createSilentLogger(),
    refreshInterval: 3_600_000,
    connections: 4,
    readTimeout: 100,
    publish: async () => {},
  })
  onTestFinished(async () => {
    await poller.close()
    await collections.close()
  })
  await poller.start()
  const listScheduled = () => [...'abcdef'].filter((video) => poller.schedule!.has(video)).join('')
  return { collections, poller, listScheduled }
}

it('videos that only the archive contains are not refreshed, unless their numbers are a week old', async () => {
  const { listScheduled, poller } = await start({
    active: { videos: ['a', 'b'], age: 1_000 },
    fresh: { videos: ['b', 'c'], archived: true, age: DAY_MS },
    old: { videos: ['d'], archived: true, age: 8 * DAY_MS },
    unread: { videos: ['e'], archived: true },
  })
  expect(listScheduled()).toBe('abde')
  // The pace of the others does not depend on them.
  expect(poller.replyTable.videos.size).toBe(3)
  expect(poller.replyTable.staleCount).toBe(0)
})

it('the schedule follows every change of the archive', async () => {
  const { collections, listScheduled } = await start({
    one: { videos: ['a', 'b'], age: 1_000 },
    two: { videos: ['b', 'c'], age: 1_000 },
  })
  await collections.change('edit', 'one', { archived: true })
  expect(listScheduled()).toBe('bc')
  await collections.change('removeVideo', 'two', 'b')
  expect(listScheduled()).toBe('c')
  await collections.change('addVideo', 'two', 'a')
  expect(listScheduled()).toBe('ac')
  await collections.change('delete', 'two')
  expect(listScheduled()).toBe('')
  await collections.change('edit', 'one', { archived: false })
  expect(listScheduled()).toBe('ab')
})
