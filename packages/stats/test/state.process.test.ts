import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import type { RunningService } from '@influencer-stats/runtime/service-host'
import { createKvClient } from '@influencer-stats/kv/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parts } from '../src/parts.ts'
import type { StatsState, StateOptions } from '../src/state/stats-state.ts'
import { testState } from './state.conformance.ts'
import { startBreakingProxy } from './support/breaking-proxy.ts'
import { startKv } from './support/kv.ts'
import { recordSyncs } from './support/recorded-syncs.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

let service: RunningService
beforeAll(async () => {
  service = await startKv()
})
afterAll(() => service.stop())

const options = (more: Partial<StateOptions> = {}): StateOptions => ({
  folder: createTemporaryFolder(),
  kvUri: service.url,
  kvToken: '',
  onOutage(cause) {
    throw cause
  },
  ...more,
})

/** Empties the key-value service, which is faster than the start of another one. */
async function startEmptyKv(): Promise<void> {
  const client = createKvClient(service.url)
  const known = await Array.fromAsync(client.entries())
  await client.batch(known.map(({ id }) => ({ op: 'delete', id })))
  await client.close()
}

for (const [name, create] of Object.entries(parts.state)) {
  testState(name, async () => {
    if (name === 'kv') await startEmptyKv()
    return create(options())
  })
}

describe('state level', () => {
  it('persists everything over a restart', async () => {
    const folder = createTemporaryFolder()
    const first = await parts.state.level(options({ folder }))
    await first.put({ id: 'a', videos: ['-4lB5EKS5Uk'], revision: 3 })
    await first.putUsage({ day: '2026-11-20', used: 5 })
    await first.close()
    const second = await parts.state.level(options({ folder }))
    expect(await second.get('a')).toEqual({ id: 'a', videos: ['-4lB5EKS5Uk'], revision: 3 })
    expect(await second.getUsage()).toEqual({ day: '2026-11-20', used: 5 })
    await second.close()
  })
})

/** Makes every kind of write to a state, step by step: creates, replaces and deletes a collection, with its data. */
async function* countWrites(state: StatsState): AsyncGenerator<string> {
  const before = { id: 'a', videos: ['-4lB5EKS5Uk'], revision: 1 }
  await state.put(before)
  yield 'make'
  await state.put({ ...before, revision: 2 }, await state.get('a'))
  yield 'replace'
  await state.putSnapshots([{ id: 'a', snapshot: { videos: [], missing: [], asOf: 1 } }])
  yield 'numbers'
  await state.putUsage({ day: '2026-11-20', used: 5 })
  yield 'usage'
  await state.putRecords([{ kind: 'channel', key: 'UCa', value: {} }])
  yield 'record of a source'
  await state.putRecords([{ kind: 'post', key: 'a/p', value: {} }])
  yield 'record'
  const trashed = { ...before, revision: 3, deleted: '2026-11-20T12:00:00.000Z' }
  await state.trash(trashed, (await state.get('a'))!)
  yield 'trash'
  await state.restore({ ...before, revision: 4 }, trashed)
  yield 'restore'
  await state.delete('a', await state.get('a'))
  yield 'forget'
}

/** True for the writes that must survive a power cut and therefore wait for the disk. */
const SYNCED_WRITES = {
  make: true,
  replace: true,
  numbers: false,
  usage: false,
  'record of a source': false,
  record: true,
  trash: true,
  restore: true,
  forget: true,
}

it('state level waits for the disk before a change of a collection is acknowledged', async () => {
  const state = await parts.state.level(options())
  const syncs = await recordSyncs()
  const seen: Record<string, boolean> = {}
  for await (const what of countWrites(state)) seen[what] = String(syncs.splice(0)) === 'true'
  expect(seen).toEqual(SYNCED_WRITES)
  await state.close()
})

it('state kv requests a durable write before a change of a collection is acknowledged', async () => {
  await startEmptyKv()
  const proxy = await startBreakingProxy(service.url)
  const lines: string[] = []
  proxy.failure = (head) => {
    if (!head.startsWith('GET') && head.includes(' HTTP/1.1')) lines.push(head)
    return 'pass'
  }
  const state = await parts.state.kv(options({ kvUri: proxy.url }))
  const seen: Record<string, boolean> = {}
  for await (const what of countWrites(state)) {
    expect(lines).not.toEqual([])
    seen[what] = lines.splice(0).every((line) => line.includes('durable=true'))
  }
  expect(seen).toEqual(SYNCED_WRITES)
  await state.close()
  await proxy.close()
})

describe('state kv', () => {
  const a = { id: 'a', videos: ['-4lB5EKS5Uk'], revision: 3 }
  const b = { ...a, id: 'b' }
  const snapshot = { videos: [], missing: [], asOf: 1 }

  it('reports an outage of the service, and loses no stored data', async () => {
    const settings = { data: createTemporaryFolder(), port: await findFreePort() }
    const first = await startKv(settings)
    const onOutage = vi.fn<(cause: unknown) => void>()
    const state = await parts.state.kv(options({ kvUri: first.url, onOutage }))
    await state.put(a)
    await state.putUsage({ day: '2026-11-20', used: 5 })
    await first.stop()
    const requests = [
      () => state.get('a'),
      () => state.list('', 10),
      () => state.getSnapshot('a'),
      () => state.getHistory('a', 0, 10, 9),
      () => state.put(b),
      () => state.delete('a', a),
      () => state.putSnapshots([{ id: 'a', snapshot }]),
      () => state.deletePoints('a', [1]),
      () => state.getUsage(),
      () => state.putUsage({ day: '2026-11-20', used: 6 }),
    ]
    for (const read of requests)
      await expect(async () => read()).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE', status: 503 })
    expect(onOutage).toHaveBeenCalledTimes(1)

    const again = await startKv(settings)
    expect(await state.list('', 10)).toEqual([a])
    expect(await state.getUsage()).toEqual({ day: '2026-11-20', used: 5 })
    await state.put(b)
    expect(await state.list('', 10)).toEqual([a, b])
    await state.close()
    await again.stop()
  })

  it('sends the token that the service needs', async () => {
    const guarded = await startKv({ apiToken: 'hunter2' })
    const onOutage = vi.fn<(cause: unknown) => void>()
    const unauthorized = await parts.state.kv(options({ kvUri: guarded.url, onOutage }))
    await expect(async () => unauthorized.put(a)).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' })
    expect(onOutage.mock.calls).toMatchObject([[{ code: 'UNAUTHORIZED' }]])
    const state = await parts.state.kv(options({ kvUri: guarded.url, kvToken: 'hunter2' }))
    await state.put(a)
    expect(await state.get('a')).toEqual(a)
    await unauthorized.close()
    await state.close()
    await guarded.stop()
  })

  it('begins a new collection without any remains of an old one of that name', async () => {
    await startEmptyKv()
    const state = await parts.state.kv(options())
    const points = Array.from({ length: 1_500 }, (_, at) => ({
      at,
      impressions: 1,
      engagements: 1,
      score: 1,
      videos: 1,
    }))
    await state.putSnapshots(points.map((point) => ({ id: 'a', snapshot, point })))
    await state.put(a)
    expect(await state.getSnapshot('a')).toBeUndefined()
    expect(await state.getHistory('a', 0, 2_000, 2_000)).toEqual([])
    await state.close()
  })

  it('changes only values that are unchanged since they were read', async () => {
    await startEmptyKv()
    const state = await parts.state.kv(options({ onOutage() {} }))
    await state.put(a)
    const before = await state.get('a')
    await state.put({ ...a, revision: 4 }, before)
    const unknown = { code: 'OUTCOME_UNKNOWN' }
    await expect(state.put({ ...a, revision: 5 }, before)).rejects.toMatchObject(unknown)
    await expect(state.put({ ...a, revision: 5 })).rejects.toMatchObject(unknown)
    await expect(state.delete('a', before)).rejects.toMatchObject(unknown)
    expect(await state.get('a')).toMatchObject({ revision: 4 })
    await state.close()
  })

  it('leaves the data of other clients in the service unchanged', async () => {
    await startEmptyKv()
    const client = createKvClient(service.url)
    const state = await parts.state.kv(options())
    for (const id of ['c!a', 'stats', 'stats/', 'stats0', 'usage']) await client.put(id, 'theirs')
    await state.put(a)
    expect(await state.list('', 10)).toEqual([a])
    await state.delete('a', await state.get('a'))
    expect(await Array.fromAsync(client.entries())).toHaveLength(5)
    await state.close()
    await client.close()
  })
})
