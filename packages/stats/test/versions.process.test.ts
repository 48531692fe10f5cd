import type { RunningService } from '@influencer-stats/runtime/service-host'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { startKv } from './support/kv.ts'
import { useNats, createStreamName, nodeSettings } from './support/cluster-node.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type StatsReply, type TestStats } from './support/stats.ts'

const nats = useNats()
const [A, B, C] = SAMPLE_VIDEOS as unknown as readonly [string, string, string]
const CONDITION_FAILED_REPLY = { status: 412, body: { code: 'CONDITION_FAILED' } }

/** Settings of each way to store collections. */
const backends = {
  list: () => ({ state: 'list', threads: 1 }),
  map: () => ({ state: 'map', cache: 'poller' }),
  level: () => ({ state: 'level', threads: 2 }),
  kv: ({ url }: RunningService) => ({ state: 'kv', kvUri: url }),
  log: () => nodeSettings(nats().url, createStreamName()),
}

const etagOf = ({ headers }: StatsReply): string => headers.get('etag')!

describe.each(Object.entries(backends))('versions of collections, stored by %s', (name, settings) => {
  let standIn: TestStandIn
  let kv: RunningService
  let stats: TestStats

  beforeAll(async () => {
    standIn = await startStandIn()
    kv = await startKv()
    stats = await startStats({ youtubeUri: standIn.url, data: createTemporaryFolder(), ...settings(kv) })
  }, 60_000)
  afterAll(async () => {
    await stats.stop()
    await kv.stop()
    await standIn.stop()
  })

  it('every change gives the collection a new ETag, which every reply states', async () => {
    const path = `/collections/all-${name}`
    const changes = [
      await stats.put(path, { videos: [A] }),
      await stats.put(path, { videos: [A], name: 'Spring' }),
      await stats.patch(path, { name: 'Summer' }),
      await stats.put(`${path}/videos/${B}`),
      await stats.delete(`${path}/videos/${A}`),
    ]
    expect(changes.map(({ status }) => status)).toEqual([201, 200, 200, 201, 204])
    const etags = changes.map(etagOf)
    for (const etag of etags) expect(etag).toMatch(/^"\d+"$/)
    expect(new Set(etags).size).toBe(5)
    const read = await stats.get(path)
    expect(etagOf(read)).toBe(etags.at(-1))
    expect(read.body.version).toBe(etags.at(-1)!.slice(1, -1))
    expect((await stats.get(path, { 'if-none-match': etagOf(read) })).status).toBe(304)
    expect((await stats.get(path, { 'if-match': '"1"' })).status).toBe(412)
    // Numbers change without the collection, so a read with numbers never gets a 304.
    const withStats = await stats.get(`${path}?include=stats`, { 'if-none-match': etagOf(read) })
    expect([withStats.status, withStats.headers.get('etag'), withStats.body.version]).toEqual([
      200,
      null,
      read.body.version,
    ])
    for (const query of ['', '?include=stats,change', '?sort=-name']) {
      const { collections } = (await stats.get(`/collections${query}`)).body
      expect(collections.find(({ id }: { id: string }) => id === `all-${name}`).version).toBe(read.body.version)
    }
    // The addition of a video that is already in the collection changes nothing.
    expect(etagOf(await stats.put(`${path}/videos/${B}`))).toBe(etagOf(read))
  })

  it('a change with If-Match of an older version is refused and states the current one', async () => {
    const path = `/collections/match-${name}`
    const old = etagOf(await stats.put(path, { videos: [A], cost: 5, currency: 'EUR' }))
    const current = etagOf(await stats.patch(path, { cost: 7 }))
    for (const given of [old, `W/${current}`, '"other"', `"other", ${old}`]) {
      const condition = { 'if-match': given }
      for (const refused of [
        await stats.patch(path, { name: 'x' }, condition),
        await stats.put(path, { videos: [] }, condition),
        await stats.put(`${path}/videos/${B}`, undefined, condition),
        await stats.put(`${path}/videos/${A}`, undefined, condition),
        await stats.delete(`${path}/videos/${A}`, condition),
        await stats.delete(path, condition),
      ]) {
        expect(refused).toMatchObject(CONDITION_FAILED_REPLY)
        expect(etagOf(refused)).toBe(current)
      }
    }
    expect((await stats.get(path)).body).toMatchObject({ videos: [A], cost: 7, currency: 'EUR' })

    const renamed = await stats.patch(path, { name: 'x' }, { 'if-match': current })
    const replaced = await stats.put(path, { videos: [A] }, { 'if-match': `"other" , ${etagOf(renamed)}` })
    const added = await stats.put(`${path}/videos/${B}`, undefined, { 'if-match': etagOf(replaced) })
    const removed = await stats.delete(`${path}/videos/${A}`, { 'if-match': etagOf(added) })
    const deleted = await stats.delete(path, { 'if-match': etagOf(removed) })
    expect([renamed, replaced, added, removed, deleted].map(({ status }) => status)).toEqual([200, 200, 201, 204, 204])
  })

  it('a collection is created only if absent, or replaced only if present', async () => {
    const path = `/collections/none-${name}`
    expect(await stats.put(path, { videos: [A] }, { 'if-match': '*' })).toMatchObject(CONDITION_FAILED_REPLY)
    expect((await stats.get(path)).status).toBe(404)
    expect((await stats.put(path, { videos: [A] }, { 'if-none-match': '*' })).status).toBe(201)
    const again = await stats.put(path, { videos: [B] }, { 'if-none-match': '*' })
    expect(again).toMatchObject(CONDITION_FAILED_REPLY)
    expect(etagOf(again)).toBe(etagOf(await stats.get(path)))
    expect((await stats.put(path, { videos: [C] }, { 'if-match': '*' })).status).toBe(200)
    // An absent collection gives 404, regardless of the condition.
    expect((await stats.patch('/collections/absent', { name: 'x' }, { 'if-match': '"1"' })).status).toBe(404)
    expect((await stats.delete('/collections/absent', { 'if-match': '"1"' })).status).toBe(404)
  })

  it('exactly one of many changes with the same If-Match is made', async () => {
    const path = `/collections/race-${name}`
    const current = etagOf(await stats.put(path, { videos: [A] }))
    const found = await Promise.all(
      Array.from({ length: 10 }, (_, i) => stats.patch(path, { name: `n${i}` }, { 'if-match': current })),
    )
    expect(found.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 412)])
  })

  it('a condition that is no list of tags is refused', async () => {
    const path = `/collections/bad-${name}`
    const { version } = (await stats.put(path, { videos: [A] })).body
    for (const given of [version, '"a" "b"', `'${version}'`, '*, "a"']) {
      const refused = await stats.patch(path, { name: 'x' }, { 'if-match': given })
      expect(refused).toMatchObject({ status: 400, body: { code: 'CONDITION_INVALID' } })
    }
    const added = await stats.put(`${path}/videos/${B}`, undefined, { 'if-none-match': '*' })
    expect(added).toMatchObject({ status: 400, body: { code: 'CONDITION_UNSUPPORTED' } })
    expect((await stats.get(path)).body).toMatchObject({ videos: [A], version })
  })

  it('`created` is unchanged by every change and differs after a deletion', async () => {
    const path = `/collections/birth-${name}`
    const { created } = (await stats.put(path, { videos: [A] })).body
    expect(Math.abs(Date.parse(created) - Date.now())).toBeLessThan(60_000)
    const changed = [
      await stats.put(path, { videos: [A, B], name: 'Spring' }),
      await stats.patch(path, { name: 'Summer' }),
      await stats.get(path),
      await stats.get(`${path}?include=stats`),
      await stats.get(`${path}/export`),
    ]
    for (const { body } of changed) expect(body.created).toBe(created)
    const births = new Set([created])
    while (births.size < 20) {
      await stats.delete(path)
      const { body } = await stats.put(path, { videos: [A] })
      expect(births).not.toContain(body.created)
      births.add(body.created)
    }
  })

  it('the client changes only the required version', async () => {
    const client = createStatsClient(stats.url)
    const id = `client-${name}`
    const made = await client.put(id, { videos: [A] }, { ifAbsent: true })
    const failed = { status: 412, code: 'CONDITION_FAILED' }
    await expect(client.put(id, { videos: [B] }, { ifAbsent: true })).rejects.toMatchObject(failed)
    const { version } = (await client.patch(id, { name: 'x' }, { ifVersion: made.version }))!
    const old = { ifVersion: made.version }
    await expect(client.patch(id, { name: 'y' }, old)).rejects.toMatchObject(failed)
    await expect(client.put(id, { videos: [] }, old)).rejects.toMatchObject(failed)
    await expect(client.addVideo(id, B, old)).rejects.toMatchObject(failed)
    await expect(client.removeVideo(id, A, old)).rejects.toMatchObject(failed)
    await expect(client.delete(id, old)).rejects.toMatchObject(failed)
    expect(await client.get(id)).toMatchObject({ name: 'x', version, created: made.created })
    expect(await client.delete(id, { ifVersion: version })).toBe(true)
  })
})

it('a collection of an older version has a version and no `created`, also after changes', async () => {
  const { createLevelState } = await import('../src/state/level-state.ts')
  const { CollectionsOwner } = await import('../src/campaigns/collections-owner.ts')
  const state = await createLevelState({
    folder: createTemporaryFolder(),
    log: { info() {}, warn() {}, error() {} } as never,
  })
  await state.put({ id: 'old', videos: [A], revision: 7 })
  const collections = new CollectionsOwner({ state, retention: 1 })
  const { collection } = await collections.change('put', 'old', [B])
  expect(collection.created).toBeUndefined()
  await collections.change('delete', 'old')
  expect((await collections.change('put', 'old', [B])).collection.created).toBeGreaterThan(7)
  await collections.close()
})
