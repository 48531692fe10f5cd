import { expect, it } from 'vitest'
import { Follower, type Polling } from '../src/follower.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import type { Change } from '../src/state/change.ts'
import { toPacificDay } from '@influencer-stats/runtime/pacific-time'

const put = (id: string): Change => ({ type: 'put', collection: { id, videos: [], revision: 1 } })

/** A follower with a lease that a test gives and takes. */
function setUp() {
  const follower = new Follower()
  const said: string[] = []
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
  const meter = new QuotaMeter(QuotaMeter.memory(), 100)
  const polling: Polling = {
    poller: {
      changed: (id, collection) => (said.push(`${id} ${collection ? 'changed' : 'gone'}`), publishing.promise),
      follow: async ({ ids }) => void said.push(`asked ${ids}`),
      failed: async (ids) => void said.push(`failed ${ids}`),
      changeSource: async (source) => (said.push(`source ${source}`), loading.promise),
      wanted: (id) => void said.push(`wanted ${id}`),
    },
    meter,
    begin: async () => void said.push('begin'),
    end: async () => void said.push('end'),
  }
  return {
    follower,
    said,
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

it('hands on what is said while all is loaded, afterwards and in its order, and nothing from before', () => {
  const { follower, said, lease, polling } = setUp()
  follower.take([put('before')])
  follower.listen(lease)
  follower.take([put('a'), { type: 'wanted', id: 'a' }])
  expect(said).toEqual([])
  follower.join(polling)
  follower.take([
    { type: 'asked', ids: ['1'], found: [], asOf: 1, age: 0 },
    { type: 'failed', ids: ['2'], detail: '' },
    { type: 'delete', id: 'a' },
    { type: 'snapshots', rows: [] },
  ])
  expect(said).toEqual(['a changed', 'wanted a', 'asked 1', 'failed 2', 'a gone'])
})

it('tells when every thread has what was changed', async () => {
  const { follower, lease, polling, publishing } = setUp()
  follower.listen(lease)
  follower.join(polling)
  await follower.told()
  follower.take([put('a')])
  let isTold = false
  const told = follower.told().then(() => (isTold = true))
  await new Promise(setImmediate)
  expect(isTold).toBe(false)
  publishing.resolve()
  await told
})

it('takes the count of another, and none while it counts itself', () => {
  const { follower, lease, polling, meter, give } = setUp()
  const usage = (used: number): Change => ({ type: 'usage', usage: { day: toPacificDay(Date.now()), used } })
  follower.listen(lease)
  follower.join(polling)
  follower.take([usage(7)])
  expect(meter.used).toBe(7)
  give()
  follower.take([usage(3)])
  expect(meter.used).toBe(7)
})

it('begins with the lease and ends with it, each time', async () => {
  const { follower, said, lease, polling, give, take, close } = setUp()
  follower.listen(lease)
  follower.join(polling)
  for (let i = 0; i < 2; i++) {
    give()
    await new Promise(setImmediate)
    take()
    await new Promise(setImmediate)
  }
  close()
  await follower.ended()
  expect(said).toEqual(['begin', 'end', 'begin', 'end'])
})

it('holds back what is said while the numbers of another source are loaded', async () => {
  const { follower, said, lease, loading, publishing, polling } = setUp()
  publishing.resolve()
  follower.listen(lease)
  follower.join(polling)
  follower.take([{ type: 'source', source: 'https://api.example' }, put('a')])
  follower.take([put('b')])
  expect(said).toEqual(['source https://api.example'])
  let isTold = false
  const told = follower.told().then(() => (isTold = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isTold).toBe(false)
  loading.resolve()
  await told
  expect(said.slice(1)).toEqual(['a changed', 'b changed'])
})

it('begins only once the numbers of the current source are loaded, and with a lease', async () => {
  const { follower, said, lease, loading, polling, give, take, close } = setUp()
  follower.listen(lease)
  follower.join(polling)
  follower.take([{ type: 'source', source: 'https://api.example' }])
  give()
  await new Promise(setImmediate)
  expect(said).toEqual(['source https://api.example'])
  take()
  loading.resolve()
  await new Promise(setImmediate)
  expect(said).toEqual(['source https://api.example'])
  give()
  await new Promise(setImmediate)
  expect(said.slice(1)).toEqual(['begin'])
  take()
  close()
  await follower.ended()
})
