import type { Overrides } from '@influencer-stats/runtime/embed'
import { readFormatFile } from '@influencer-stats/runtime/testing/read-format'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startKv, type TestKv } from './support/kv.ts'
import { start, useNats } from './support/cluster-nodes.ts'

const startNode = useNats()

let streams = 0
const newStream = () => startNode(`expiry-${process.pid}-${++streams}`)
const readLines = async (kv: TestKv) =>
  (await kv.request('GET', '/v0/entities?start=%00&linearizable=true', undefined, { accept: 'application/x-ndjson' }))
    .text
const NDJSON = { 'content-type': 'application/x-ndjson' }
const FAR_FUTURE_MS = 4_102_444_800_000

describe.each<[string, () => Overrides]>([
  ['alone', () => ({ threads: 2 })],
  ['on a node', newStream],
])('values that expire, %s', (_, settings) => {
  it('are deleted in time, which a stream shows, and remain until then after a restart', async () => {
    const data = createTemporaryFolder()
    const own = settings()
    const first = await startKv({ data, ...own })
    await first.request(
      'POST',
      '/v0/batch',
      `{"op":"put","id":"late","value":"1","expiresAt":${FAR_FUTURE_MS}}\n`,
      NDJSON,
    )
    await first.client.put('text', 'stays')
    await first.client.put('far', '1', { ttl: 10_000 })
    const before = await readLines(first)
    expect(before.replace(/("far".*)"expiresAt":\d+/g, '$1"expiresAt":N')).toBe(
      '{"op":"put","id":"far","value":"1","expiresAt":N}\n' +
        `{"op":"put","id":"late","value":"1","expiresAt":${FAR_FUTURE_MS}}\n` +
        '{"op":"put","id":"text","value":"stays"}\n',
    )
    await first.request('PUT', '/v0/entity?id=soon&ttl=1', '1')
    await first.stop()
    const kv = await start({ data, ...own })
    // Before another value with an expiry is written.
    await waitUntil(async () => !(await kv.client.get('soon')))
    let expiresAt = 0
    const begun = Date.now()
    for await (const { changes } of kv.client.watch()) {
      // The stream is open.
      if (changes.length === 0 && expiresAt === 0) await kv.client.put('next', '1', { ttl: 1 })
      const change = changes.find(({ id }) => id === 'next')
      if (change?.op === 'put') expiresAt = change.expiresAt!
      if (change?.op === 'delete') break
    }
    expect(expiresAt).toBeGreaterThanOrEqual(begun + 1_000)
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt)
    expect(await kv.client.get('next')).toBeUndefined()
    // The lines of a range, with expiries, reproduce the content in another database.
    const copy = await start()
    await copy.client.applyBatchLines(await readLines(kv))
    expect(await readLines(copy)).toBe(await readLines(kv))
    expect(await readLines(kv)).toBe(before)
  })

  it('can be written again after a lost reply, and are written once', async () => {
    const kv = await start(settings())
    const options = { idempotencyKey: 'a-1' }
    const first = await kv.client.put('k', '1', options)
    const second = await kv.client.put('k', '2')
    expect(await kv.client.put('k', '1', options)).toBe(first)
    expect(await kv.client.get('k')).toMatchObject({ value: Buffer.from('2'), etag: second })
    // Quotes around the key make no difference.
    const plain = await kv.request('PUT', '/v0/entity?id=k', '1', { 'idempotency-key': 'a-1' })
    expect([plain.status, plain.headers.get('etag')]).toEqual([201, first])
    const reused = await kv.request('PUT', '/v0/entity?id=k', 'other', { 'idempotency-key': '"a-1"' })
    expect([reused.status, reused.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
    const remove = () => kv.request('DELETE', '/v0/entity?id=k', undefined, { 'idempotency-key': 'd' })
    expect((await remove()).status).toBe(202)
    await kv.client.put('k', '3')
    expect((await remove()).status).toBe(202)
    const change = [{ op: 'put', id: 'k', value: '4' }] as const
    await kv.client.batch(change, { idempotencyKey: 'b' })
    await kv.client.put('k', '5')
    await kv.client.batch(change, { idempotencyKey: 'b' })
    expect((await kv.client.get('k'))!.value.toString()).toBe('5')
    await expect(kv.client.batch([], { idempotencyKey: 'b' })).resolves.toBeUndefined()
    for (const bad of ['', '"', '"a', 'a b', '"\u00e9"', 'x'.repeat(256)]) {
      const { code } = await kv.request('PUT', '/v0/entity?id=k', '1', { 'idempotency-key': bad })
      expect([bad, code]).toEqual([bad, 'IDEMPOTENCY_KEY_INVALID'])
    }
    expect(await readLines(kv)).toBe('{"op":"put","id":"k","value":"5"}\n')
  })

  it('change their expiry without a new tag, and streams show it', async () => {
    const kv = await start(settings())
    const events: unknown[] = []
    const opened = Promise.withResolvers<void>()
    const watching = (async () => {
      for await (const { changes } of kv.client.watch({ start: 'k', end: 'l' })) {
        opened.resolve()
        events.push(...changes.map(({ op, id, ...more }) => [op, id, 'expiresAt' in more ? more.expiresAt : 'stays']))
        if (changes.some(({ id }) => id === 'kz')) return
      }
    })()
    await opened.promise
    const etag = await kv.client.put('k', '1')
    const stays = { expiresAt: null, remaining: null }
    expect(await kv.client.getExpiry('k')).toEqual(stays)
    const before = Date.now()
    expect(await kv.client.expire('k', 60, { ifMatch: etag, durable: true })).toBe(true)
    const { expiresAt, remaining } = (await kv.client.getExpiry('k'))!
    expect(expiresAt).toBeGreaterThanOrEqual(before + 60_000)
    expect(expiresAt! - remaining!).toBeGreaterThanOrEqual(before)
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await kv.request(method, '/v0/entity?id=k')
      expect([headers.get('expires-at'), headers.get('etag')]).toEqual([String(expiresAt), etag])
    }
    expect((await kv.request('PUT', `/v0/entity/expiry?id=k&expiresAt=${FAR_FUTURE_MS}`)).status).toBe(204)
    expect((await kv.client.getExpiry('k'))!.expiresAt).toBe(FAR_FUTURE_MS)
    await expect(kv.client.expire('k', 1, { ifMatch: '"other"' })).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    await expect(kv.client.persist('k', { ifNoneMatch: '*' })).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    const none = await kv.request('PUT', '/v0/entity/expiry?id=k&ttl=1', undefined, { 'if-none-match': etag })
    expect([none.status, none.code]).toEqual([412, 'CONDITION_FAILED'])
    // A repeated request with the same idempotency key has no further effect.
    const named = { idempotencyKey: 'e' }
    expect(await kv.client.persist('k', named)).toBe(true)
    await kv.client.batch([
      { op: 'expire', id: 'k', ttl: 100 },
      { op: 'expire', id: 'k-none', ttl: 100 },
    ])
    expect(await kv.client.persist('k', named)).toBe(true)
    expect((await kv.client.getExpiry('k'))!.remaining).toBeGreaterThan(50_000)
    await kv.client.batch([{ op: 'expire', id: 'k', ttl: null }])
    expect(await kv.client.getExpiry('k')).toEqual(stays)
    expect(await kv.client.get('k')).toEqual({ value: Buffer.from('1'), etag })
    expect((await kv.request('GET', '/v0/entity?id=k')).headers.get('expires-at')).toBeNull()
    expect(await kv.client.getExpiry('k-none')).toBeUndefined()
    expect(await kv.client.expire('k-none', 1)).toBe(false)
    expect(await kv.client.persist('k-none', { ifNoneMatch: '*' })).toBe(false)
    await expect(kv.client.persist('k-none', { ifMatch: '*' })).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    await kv.client.put('kz', '')
    await watching
    const batchTime = (events[4] as unknown[])[2]
    expect(events).toEqual([
      ['put', 'k', 'stays'],
      ['expire', 'k', expiresAt],
      ['expire', 'k', FAR_FUTURE_MS],
      ['expire', 'k', 'stays'],
      ['expire', 'k', batchTime],
      ['expire', 'k', 'stays'],
      ['put', 'kz', 'stays'],
    ])
    expect(batchTime).toBeGreaterThan(before + 100_000 - 1)
  })

  it('are refused with an invalid time', async () => {
    const kv = await start(settings())
    for (const ttl of ['0', '-1', '1.5', 'x', '1000000000', ''])
      expect((await kv.request('PUT', `/v0/entity?id=k&ttl=${ttl}`, '1')).code).toBe('QUERY_INVALID')
    expect((await kv.request('DELETE', '/v0/entity?id=k&ttl=1')).code).toBe('QUERY_INVALID')
    for (const query of [
      '',
      '&ttl=0',
      '&ttl=1&expiresAt=5',
      '&expiresAt=0',
      '&expiresAt=x',
      '&expiresAt=8640000000001',
    ])
      expect([query, (await kv.request('PUT', `/v0/entity/expiry?id=k${query}`)).code]).toEqual([
        query,
        'QUERY_INVALID',
      ])
    for (const path of ['', '?id=', '?id=k&ttl=1', '?x=1'])
      for (const method of ['GET', 'DELETE'])
        expect((await kv.request(method, `/v0/entity/expiry${path}`)).code).toBe('QUERY_INVALID')
    expect((await kv.request('GET', `/v0/entity/expiry?id=${'k'.repeat(1_025)}`)).code).toBe('KEY_TOO_LARGE')
    for (const more of ['', ',"value":"1"', ',"ttl":0', ',"ttl":null,"expiresAt":5', ',"expiresAt":"x"']) {
      const { code } = await kv.request('POST', '/v0/batch', `{"op":"expire","id":"k"${more}}\n`, NDJSON)
      expect([more, code]).toEqual([more, 'BATCH_LINE_INVALID'])
    }
    for (const more of ['"ttl":0', '"ttl":"1"', '"expiresAt":1.5', '"ttl":1,"expiresAt":5']) {
      const { code } = await kv.request('POST', '/v0/batch', `{"op":"put","id":"k","value":"1",${more}}\n`, NDJSON)
      expect([more, code]).toEqual([more, 'BATCH_LINE_INVALID'])
    }
    const { code } = await kv.request('POST', '/v0/batch', '{"op":"delete","id":"k","ttl":1}\n', NDJSON)
    expect(code).toBe('BATCH_LINE_INVALID')
  })
})

it('nodes expire the same values at the same sequence, and share idempotency keys', async () => {
  const settings = newStream()
  const [one, other] = [await start(settings), await start({ ...settings, threads: 2 })]
  await one.client.batch(['a', 'b', 'c'].map((id) => ({ op: 'put', id, value: '1', ttl: 1 })))
  // The streams may open after the removal, because a busy machine may need more than a second for that.
  const after = one.client.sequence!
  const readSequences = [one, other].map(async ({ client }) => {
    for await (const { sequence, changes } of client.watch({ after }))
      if (changes.some(({ op }) => op === 'delete')) return { sequence, ids: changes.map(({ id }) => id) }
    throw new Error('it ended')
  })
  const first = await one.client.put('k', '1', { idempotencyKey: 'x', ifNoneMatch: '*' })
  expect(await other.client.put('k', '1', { idempotencyKey: 'x', ifNoneMatch: '*' })).toBe(first)
  const [removed, removedElsewhere] = await Promise.all(readSequences)
  expect(removed!.ids).toEqual(['a', 'b', 'c'])
  expect(removedElsewhere).toEqual(removed)
  expect(await readLines(other)).toBe('{"op":"put","id":"k","value":"1"}\n')
})

it('a folder of format 2 is read as format 3 without expiries', async () => {
  const data = createTemporaryFolder()
  const before = await startKv({ data })
  const etag = await before.client.put('k', '1')
  await before.stop()
  const file = join(data, 'format.json')
  writeFileSync(file, JSON.stringify({ service: 'kv', format: 2 }))
  const kv = await start({ data })
  expect(readFormatFile(data)).toEqual({ service: 'kv', format: 3 })
  expect(await kv.client.get('k')).toEqual({ value: Buffer.from('1'), etag })
  await kv.client.put('k', '2', { ttl: 1, ifMatch: etag })
  await waitUntil(async () => !(await kv.client.get('k')))
})

it.each(['raw', 'node-http', 'fastify'])('the server %s states the expiry of a value', async (server) => {
  const kv = await start({ server })
  await kv.client.put('k', '1', { ttl: 100 })
  const { expiresAt } = (await kv.client.getExpiry('k'))!
  for (const method of ['GET', 'HEAD'])
    expect((await kv.request(method, '/v0/entity?id=k')).headers.get('expires-at')).toBe(String(expiresAt))
})
