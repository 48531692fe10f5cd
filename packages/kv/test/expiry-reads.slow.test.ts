import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createKvClient } from '../src/client.ts'
import { startKv, type TestKv } from './support/kv.ts'
import { start, useNats } from './support/cluster-nodes.ts'
import { spawnKv } from './support/process.ts'

const startNode = useNats()
let streams = 0
const newStream = () => startNode(`expiry-reads-${process.pid}-${++streams}`)

const NDJSON = { 'content-type': 'application/x-ndjson' }
const name = (i: number) => `k${String(i).padStart(5, '0')}`
const putLine = (id: string, expiresAt?: number) => `${JSON.stringify({ op: 'put', id, value: 'x', expiresAt })}\n`
const batch = (kv: TestKv, ...lines: string[]) => kv.request('POST', '/v0/batch', lines.join(''), NDJSON)
const parseIds = (ndjson: string) =>
  ndjson
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id as string)

async function waitUntilTime(time: number): Promise<void> {
  while (Date.now() < time) await turn()
}

const persistedSettings: [string, () => Overrides][] = [
  ['in LevelDB, one thread', () => ({ threads: 1 })],
  ['in LevelDB, two threads', () => ({ threads: 2 })],
  ['in LevelDB, one by one', () => ({ threads: 1, commit: 'single' })],
  ['on a node', () => ({ ...newStream(), threads: 1 })],
]

describe.each<[string, () => Overrides]>([['in memory', () => ({ store: 'memory' })], ...persistedSettings])(
  'a value that expires, %s',
  (_, settings) => {
    it('is present until its time and absent from then on, for every kind of read', async () => {
      const kv = await start(settings())
      const reads: [method: string, path: string, accept?: string][] = [
        ['GET', '/v0/entity?id=k00000'],
        ['HEAD', '/v0/entity?id=k00000'],
        ['GET', '/v0/entity/expiry?id=k00000'],
        ['GET', '/v0/entities?start=k&end=l', 'application/octet-stream'],
        ['GET', '/v0/entities?start=k&end=l', 'application/x-ndjson'],
        ['GET', '/v0/entities?prefix=k&limit=1'],
        ['GET', '/v0/entities?prefix=k&keys=true'],
        ['GET', '/v0/entities?prefix=k0000&reverse=true&limit=10'],
        ['GET', '/v0/entities?prefix=k&count=true'],
      ]
      for (const [method, path, accept = '*/*'] of reads) {
        const expiresAt = Date.now() + 400
        await batch(kv, ...Array.from({ length: 20 }, (_, i) => putLine(name(i), i % 2 ? undefined : expiresAt)))
        for (let sentAt = 0; sentAt < expiresAt + 20;) {
          sentAt = Date.now()
          const { status, text } = await kv.request(method, path, undefined, { accept })
          const isThere = path.startsWith('/v0/entities') ? /k00000|"count":20/.test(text) : status === 200
          if (sentAt >= expiresAt) {
            expect([path, isThere]).toEqual([path, false])
            if (path.startsWith('/v0/entities')) expect(text).toMatch(/k00001|"count":10/)
          } else if (Date.now() < expiresAt) expect([path, isThere]).toEqual([path, true])
        }
      }
    })

    it('is absent in conditions, batches and repeated changes from its time on', async () => {
      const kv = await start(settings())
      const etag = await kv.client.put('a', 'x')
      const expiresAt = Date.now() + 300
      await batch(kv, ...['b', 'c', 'd'].map((id) => putLine(id, expiresAt)))
      expect((await kv.request('PUT', `/v0/entity/expiry?id=a&expiresAt=${expiresAt}`)).status).toBe(204)
      const headers = { 'idempotency-key': 'once', 'if-match': '*' }
      await waitUntilTime(expiresAt)
      const replies = await Promise.all([
        kv.request('GET', '/v0/entity?id=a', undefined, { 'if-none-match': etag }),
        kv.request('GET', '/v0/entity?id=a', undefined, { 'if-match': etag }),
        kv.request('PUT', '/v0/entity?id=a', '2', { 'if-match': etag }),
        kv.request('DELETE', '/v0/entity?id=b', undefined, { 'if-match': '*' }),
        kv.request('PUT', '/v0/entity?id=c', '2', { 'if-none-match': '*' }),
        kv.request('PUT', '/v0/entity/expiry?id=b&ttl=60'),
        kv.request('DELETE', '/v0/entity/expiry?id=b'),
        kv.request('PUT', '/v0/entity?id=d', '2', headers),
        batch(kv, '{"op":"expire","id":"a","ttl":60}\n', '{"op":"expire","id":"b","expiresAt":null}\n'),
      ])
      expect(replies.map(({ status }) => status)).toEqual([404, 412, 412, 412, 201, 404, 404, 412, 200])
      await kv.client.put('d', '3')
      expect((await kv.request('PUT', '/v0/entity?id=d', '2', headers)).status).toBe(412)
      const all = await kv.request('GET', '/v0/entities?start=a', undefined, { accept: 'application/x-ndjson' })
      expect(parseIds(all.text)).toEqual(['c', 'd'])
    })

    it('never reappears if a PUT replaces it at that moment', async () => {
      const kv = await start(settings())
      for (let round = 0; round < 25; round++) {
        const id = `r${round}`
        const expiresAt = Date.now() + 30
        await batch(kv, putLine(id, expiresAt))
        let isPut = false
        const putting = waitUntilTime(expiresAt + (round % 5) - 2).then(async () => {
          await kv.client.put(id, 'new')
          isPut = true
        })
        const read = async () => {
          const found: string[] = []
          for (let isLast = false; !isLast;) {
            isLast = isPut
            found.push((await kv.client.get(id))?.value.toString() ?? 'absent')
          }
          return found
        }
        for (const found of await Promise.all([read(), read()])) {
          const changes = found.filter((value, i) => value !== found[i - 1])
          expect(['x', 'absent', 'new'].filter((value) => changes.includes(value))).toEqual(changes)
          expect(changes.at(-1)).toBe('new')
        }
        await putting
      }
    })
  },
)

it.each(persistedSettings)(
  'many values that are due are absent in the first second after a start, %s',
  async (_, settings) => {
    const data = createTemporaryFolder()
    const own = { data, ...settings() }
    const first = await startKv(own)
    const expiresAt = Date.now() + 1_500
    const ids = Array.from({ length: 20_000 }, (_, i) => name(i))
    await batch(first, ...ids.map((id) => putLine(id, expiresAt)), putLine('stays'))
    await first.stop()
    await waitUntilTime(expiresAt)
    const kv = await start(own)
    const replies = await Promise.all([
      ...[0, 1, 9_999, 19_998, 19_999].map((i) => kv.request('GET', `/v0/entity?id=${name(i)}`)),
      kv.request('GET', '/v0/entities?start=%00&limit=1', undefined, { accept: 'application/x-ndjson' }),
      kv.request('GET', '/v0/entities?start=%00', undefined, { accept: 'application/x-ndjson' }),
    ])
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 200, 200])
    expect(replies.slice(-2).map(({ text }) => parseIds(text))).toEqual([['stays'], ['stays']])
  },
)

it('a value is absent from its time on while the disk takes no write', async () => {
  const service = spawnKv(createTemporaryFolder(), { fileBlocks: 4_096 })
  const url = await service.url
  const client = createKvClient(url)
  await client.put('soon', 'x', { ttl: 3 })
  const { expiresAt } = (await (await fetch(`${url}/v0/entity/expiry?id=soon`)).json()) as { expiresAt: number }
  const value = Buffer.alloc(100_000, 'x')
  const full = (async () => {
    for (let i = 0; ; i++) await client.put(`k${i}`, value)
  })()
  await expect(full).rejects.toMatchObject({ code: 'DISK_FULL' })
  await waitUntilTime(expiresAt)
  for (let sentAt = Date.now(); sentAt < expiresAt + 1_000; sentAt = Date.now()) {
    expect(await client.get('soon')).toBeUndefined()
    expect((await fetch(`${url}/v0/entity?id=soon`, { method: 'HEAD' })).status).toBe(404)
    const lines = await (
      await fetch(`${url}/v0/entities?start=soon`, { headers: { accept: 'application/x-ndjson' } })
    ).text()
    expect(lines).toBe('')
  }
  expect((await client.get('k0'))!.value.equals(value)).toBe(true)
  await client.close()
})
