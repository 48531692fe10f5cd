import { expect, it } from 'vitest'
import { Follower, type PollingControl } from '../src/cluster/follower.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import type { StatsChange } from '../src/state/stats-change.ts'
import { toPacificDay } from '@influencer-stats/runtime/pacific-time'

const put = (id: string): StatsChange => ({ type: 'put', collection: { id, videos: [], revision: 1 } })

/** A follower with a lease that a test grants and revokes. */
function setUp() {
  const follower = new Follower()
  const events: string[] = []
  let held = Promise.withResolvers<void>()
  let lost = Promise.withResolvers<void>()
  const lease = {
    term: undefined as number | undefined,
    waitUntilHeld: () => held.promise,
    waitUntilLost: () => lost.promise,
    append: () => Promise.reject(new Error('not here')),
    close: async () => {},
  }
  const loading = Promise.withResolvers<void>()
  const publishing = Promise.withResolvers<void>()
  const meter = new QuotaMeter(QuotaMeter.createMemory(), 100)
  const polling: PollingControl = {
    poller: {
      onCollectionChange: (id, collection) => (
        events.push(`${id} ${collection ? 'changed' : 'gone'}`),
        publishing.promise
      ),
      applyImport: async () => undefined,
      applyFetched: async ({ ids }) => void events.push(`asked ${ids}`),
      applyFailure: async (ids) => void events.push(`failed ${ids}`),
      changeSource: async (source) => (events.push(`source ${source}`), loading.promise),
      reads: { request: (id: string) => void events.push(`wanted ${id}`) } as never,
    },
    meter,
    lookups: {
      answer: async ({ request }) => void events.push(`lookup ${request}`),
      receive: ({ request }) => void events.push(`looked up ${request}`),
    },
    begin: async () => void events.push('begin'),
    end: async () => void events.push('end'),
  }
  return {
    follower,
    said: events,
    lease,
    loading,
    publishing,
    meter,
    polling,
    give() {
      lease.term = 1
      lost = Promise.withResolvers()
      held.resolve()
    },
    take() {
      lease.term = undefined
      held = Promise.withResolvers()
      lost.resolve()
    },
    close: () => held.reject(new Error('closed')),
  }
}

it('passes changes on in order, during the load and afterwards, and none from before', () => {
  const { follower, said: events, lease, polling } = setUp()
  follower.onChanges([put('before')])
  follower.setLease(lease)
  follower.onChanges([put('a'), { type: 'wanted', id: 'a' }])
  expect(events).toEqual([])
  follower.join(polling)
  follower.onChanges([
    { type: 'asked', ids: ['1'], found: [], asOf: 1, age: 0 },
    { type: 'failed', ids: ['2'], detail: '' },
    { type: 'delete', id: 'a' },
    { type: 'snapshots', rows: [] },
  ])
  expect(events).toEqual(['a changed', 'wanted a', 'asked 1', 'failed 2', 'a gone'])
})

it('resolves when every thread has all changes', async () => {
  const { follower, lease, polling, publishing } = setUp()
  follower.setLease(lease)
  follower.join(polling)
  await follower.waitUntilPublished()
  follower.onChanges([put('a')])
  let isPublished = false
  const published = follower.waitUntilPublished().then(() => (isPublished = true))
  await new Promise(setImmediate)
  expect(isPublished).toBe(false)
  publishing.resolve()
  await published
})

it('adopts the count of another node, but not while it counts itself', () => {
  const { follower, lease, polling, meter, give } = setUp()
  const usage = (used: number): StatsChange => ({ type: 'usage', usage: { day: toPacificDay(Date.now()), used } })
  follower.setLease(lease)
  follower.join(polling)
  follower.onChanges([usage(7)])
  expect(meter.used).toBe(7)
  give()
  follower.onChanges([usage(3)])
  expect(meter.used).toBe(7)
})

it('answers look-ups of other nodes only while it polls, and takes all replies', () => {
  const { follower, said: events, lease, polling, give, take } = setUp()
  const lookUp = (request: string): StatsChange => ({
    type: 'lookup',
    lookup: { request, method: 'findPlaylist', args: ['PL1'] },
  })
  follower.setLease(lease)
  follower.join(polling)
  follower.onChanges([lookUp('a'), { type: 'lookedUp', reply: { request: 'a' } }])
  give()
  follower.onChanges([lookUp('b'), { type: 'lookedUp', reply: { request: 'b' } }])
  take()
  follower.onChanges([lookUp('c')])
  expect(events).toEqual(['looked up a', 'lookup b', 'looked up b'])
})

it('begins and ends polling with each lease', async () => {
  const { follower, said: events, lease, polling, give, take, close } = setUp()
  follower.setLease(lease)
  follower.join(polling)
  for (let i = 0; i < 2; i++) {
    give()
    await new Promise(setImmediate)
    take()
    await new Promise(setImmediate)
  }
  close()
  await follower.waitUntilEnded()
  expect(events).toEqual(['begin', 'end', 'begin', 'end'])
})

it('queues changes while the numbers of another source are loaded', async () => {
  const { follower, said: events, lease, loading, publishing, polling } = setUp()
  publishing.resolve()
  follower.setLease(lease)
  follower.join(polling)
  follower.onChanges([{ type: 'source', source: 'https://api.example' }, put('a')])
  follower.onChanges([put('b')])
  expect(events).toEqual(['source https://api.example'])
  let isPublished = false
  const published = follower.waitUntilPublished().then(() => (isPublished = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isPublished).toBe(false)
  loading.resolve()
  await published
  expect(events.slice(1)).toEqual(['a changed', 'b changed'])
})

it('begins only once the numbers of the current source are loaded, and with a lease', async () => {
  const { follower, said: events, lease, loading, polling, give, take, close } = setUp()
  follower.setLease(lease)
  follower.join(polling)
  follower.onChanges([{ type: 'source', source: 'https://api.example' }])
  give()
  await new Promise(setImmediate)
  expect(events).toEqual(['source https://api.example'])
  take()
  loading.resolve()
  await new Promise(setImmediate)
  expect(events).toEqual(['source https://api.example'])
  give()
  await new Promise(setImmediate)
  expect(events.slice(1)).toEqual(['begin'])
  take()
  close()
  await follower.waitUntilEnded()
})
