import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { RunningService } from '@influencer-stats/runtime/service-host'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createKvState } from '../src/state/kv-state.ts'
import { startBreakingProxy, type BreakingProxy } from './support/breaking-proxy.ts'
import { startKv } from './support/kv.ts'
import { createNumbers } from './support/video-numbers.ts'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn } from './support/stand-in.ts'
import { startStats } from './support/stats.ts'

let kv: RunningService
beforeAll(async () => {
  kv = await startKv()
})
afterAll(() => kv.stop())

/** True for the write of a collection, false for that of its numbers. */
const isChange = (head: string) => /^(PUT|DELETE) .*stats%2Fc%21/.test(head)

/** Applies `failure` to the next change, and `after` to all later ones. */
function failNextChange(proxy: BreakingProxy, failure: 'lose' | 'hold', after: 'pass' | 'hold' = 'pass'): void {
  let isBroken = false
  proxy.failure = (head) => {
    if (isBroken) return after
    isBroken = isChange(head)
    return isBroken ? failure : 'pass'
  }
}

const changes = [
  ['making one', (c: ConnectedCollections) => c.change('put', 'new', ['a']), 'new', ['a']],
  ['replacing one', (c: ConnectedCollections) => c.change('put', 'old', ['b']), 'old', ['b']],
  ['adding a video', (c: ConnectedCollections) => c.change('addVideo', 'old', 'c'), 'old', ['a', 'c']],
  ['removing a video', (c: ConnectedCollections) => c.change('removeVideo', 'old', 'a'), 'old', []],
  ['forgetting one', (c: ConnectedCollections) => c.change('delete', 'old'), 'old', undefined],
  ['restoring one', (c: ConnectedCollections) => c.change('restore', 'gone'), 'gone', ['a']],
] as const
type ConnectedCollections = CollectionsOwner

describe.each([
  ['with a trash', DAY_MS],
  ['with final deletions', 0],
])('a change of a collection in the key-value service, %s', (_name, trashRetention) => {
  const possible = changes.filter(([name]) => trashRetention > 0 || name !== 'restoring one')
  let proxy: BreakingProxy
  let collections: CollectionsOwner
  /** Collections that the poller would know. */
  let known: Map<string, readonly string[]>

  beforeEach(async () => {
    proxy = await startBreakingProxy(kv.url)
    known = new Map()
    const state = await createKvState({ kvUri: proxy.url, kvToken: '', onOutage() {}, timeout: 1_500 })
    collections = new CollectionsOwner({
      state,
      retention: DAY_MS,
      trashRetention,
      onFault() {},
      onChange(id, collection) {
        if (collection) known.set(id, collection.videos)
        else known.delete(id)
      },
    })
    for (const id of ['new', 'old', 'other']) await collections.change('delete', id).catch(() => {})
    for (const id of ['old', 'gone']) await collections.change('put', id, ['a'])
    await collections.change('delete', 'gone')
    onTestFinished(async () => {
      proxy.failure = () => 'pass'
      await collections.close()
      await proxy.close()
    })
  })

  it.each(possible)('is applied and reported if its reply is lost: %s', async (_, change, id, videos) => {
    failNextChange(proxy, 'lose')
    await change(collections)
    expect((await collections.state.get(id))?.videos).toEqual(videos)
    expect(known.get(id)).toEqual(videos)
  })

  it.each(possible)('is resolved after a long time without a response: %s', async (_, change, id, videos) => {
    failNextChange(proxy, 'hold', 'hold')
    await expect(change(collections)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', status: 503 })
    // Until then all other changes are refused at once.
    await expect(collections.change('put', 'other', [])).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    proxy.failure = () => 'pass'
    await waitUntil(() => String(known.get(id)) === String(videos))
    expect((await collections.state.get(id))?.videos).toEqual(videos)
    await waitUntil(() => collections.change('put', 'other', []).catch(() => undefined))
  })

  it.each(possible)('is applied once, however late it arrives: %s', async (_, change, id, videos) => {
    failNextChange(proxy, 'hold')
    await change(collections)
    expect((await collections.state.get(id))?.videos).toEqual(videos)
    const next = ['z']
    await collections.change('put', id, next)
    expect(proxy.held).toBe(1)
    await proxy.release()
    expect((await collections.state.get(id))?.videos).toEqual(next)
    expect(known.get(id)).toEqual(next)
  })

  it('is not applied later if it was refused', async () => {
    const service = await startKv({ apiToken: 'hunter2' })
    const state = await createKvState({ kvUri: service.url, kvToken: '', onOutage() {}, timeout: 150 })
    const owner = new CollectionsOwner({ state, retention: DAY_MS })
    await expect(owner.change('put', 'c', [])).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    await service.stop()
    await expect(owner.change('put', 'c', [])).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    await owner.close()
  })

  it('does not wait for numbers of other collections, and numbers do not wait for a state that hangs', async () => {
    const old = (await collections.state.get('old'))!
    const numbers = (asOf: number) => ({ videos: [createNumbers('a', asOf)], missing: [], asOf })
    proxy.failure = (head) => (head.startsWith('POST /v0/batch') ? 'hold' : 'pass')
    const saved = collections.saveSnapshot(old, numbers(1))
    await waitUntil(() => proxy.held === 1)
    await collections.change('put', 'old', ['a', 'b']).catch(() => {})
    await saved
    const now = (await collections.state.get('old'))!
    for (let asOf = 2; asOf < 100; asOf++) await collections.saveSnapshot(now, numbers(asOf))
    proxy.failure = () => 'pass'
    await waitUntil(async () => (await collections.state.getSnapshot('old'))?.asOf === 99)
  })
})

it('a collection and its numbers are either both present or both deleted, whichever reply is lost', async () => {
  const standIn = await startStandIn()
  const proxy = await startBreakingProxy(kv.url)
  const stats = await startStats({
    variant: 'v7',
    state: 'kv',
    kvUri: proxy.url,
    youtubeUri: standIn.url,
    data: createTemporaryFolder(),
  })
  failNextChange(proxy, 'lose')
  expect((await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })).status).toBe(201)
  expect(await stats.get('/collections/c/stats')).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
  failNextChange(proxy, 'lose')
  expect((await stats.delete('/collections/c')).status).toBe(204)
  expect((await stats.get('/collections/c')).status).toBe(404)
  expect((await stats.get('/collections/c/stats')).status).toBe(404)
  await stats.stop()
  await proxy.close()
  await standIn.stop()
})
