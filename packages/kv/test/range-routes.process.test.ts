import { SERVERS } from '@influencer-stats/runtime/settings'
import { exchangeRaw } from './support/raw-exchange.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parts } from '../src/parts.ts'
import { startKv, type TestKv } from './support/kv.ts'

const STORES = Object.keys(parts.store) as (keyof typeof parts.store)[]
const cases = STORES.flatMap((store) => SERVERS.map((server) => ({ store, server })))

describe.each(cases)('ranges of store $store with server $server', ({ store, server }) => {
  let kv: TestKv
  beforeAll(async () => {
    kv = await startKv({ store, server })
  })
  afterAll(() => kv.stop())

  const range = (query: Record<string, string>, headers = {}, method = 'GET') =>
    kv.request(method, `/v0/entities?${new URLSearchParams(query)}`, undefined, headers)
  const parse = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const ids = async (query: Record<string, string>) => parse((await range(query)).text).map(({ id }) => id as string)

  async function putAll(entries: Record<string, string>): Promise<void> {
    for await (const { id } of kv.client.entries()) await kv.client.delete(id)
    await kv.client.batch(Object.entries(entries).map(([id, value]) => ({ op: 'put', id, value })))
  }

  it('has exactly the keys that begin with a prefix', async () => {
    const unit = fc.constantFrom(
      'a',
      '\0',
      '\x7f',
      '\u0080',
      '\u07ff',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{10ffff}',
    )
    const key = fc.string({ unit, minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { maxLength: 20 }), key, fc.boolean(), async (keys, prefix, reverse) => {
        await putAll(Object.fromEntries(keys.map((one) => [one, ''])))
        const expected = keys
          .filter((one) => one.startsWith(prefix))
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        if (reverse) expected.reverse()
        expect(await ids({ prefix, reverse: String(reverse) })).toEqual(expected)
        const { text } = await range({ prefix, count: 'true' })
        expect(JSON.parse(text)).toEqual({ count: expected.length })
      }),
      { numRuns: 40 },
    )
  })

  it('comes in pages with each entry once, in either direction', async () => {
    const keys = Array.from({ length: 23 }, (_, i) => `k${String(i).padStart(2, '0')}\u2028é`)
    await putAll({ ...Object.fromEntries(keys.map((one) => [one, 'v'])), j: '', l: '' })
    for (const reverse of ['true', 'false'])
      for (const limit of [1, 5, 23, 24]) {
        const found: string[] = []
        let pages = 0
        for (let cursor: string | undefined; ; pages++) {
          const reply = await range({
            prefix: 'k',
            reverse,
            limit: String(limit),
            ...(cursor !== undefined && { cursor }),
          })
          found.push(...parse(reply.text).map(({ id }) => id))
          const next = reply.headers.get('next')
          if (next === null) break
          cursor = decodeURIComponent(next)
        }
        expect(found).toEqual(reverse === 'true' ? keys.toReversed() : keys)
        expect(pages + 1).toBe(Math.ceil(23 / limit))
      }
    expect(await ids({ start: 'k', cursor: 'a', limit: '1' })).toEqual([keys[0]])
    expect(await ids({ end: 'k', cursor: 'z', reverse: 'true' })).toEqual(['j'])
    expect(await ids({})).toEqual(['j', ...keys, 'l'])
    expect((await range({ limit: '1001' })).headers.get('next')).toBeNull()
  })

  it('comes in pages that exceed a slice', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e']
    await putAll(Object.fromEntries(keys.map((one) => [one, one.repeat(200_000)])))
    const first = await kv.client.getPage({ limit: 3 })
    const last = await kv.client.getPage({ limit: 3, cursor: first.next })
    expect([first.next, last.next]).toEqual(['c', undefined])
    const found = [...first.entries, ...last.entries]
    expect(found.map(({ id, value }) => [id, value.length])).toEqual(keys.map((one) => [one, 200_000]))
    expect((await kv.client.getPage({ limit: 5, reverse: true })).next).toBeUndefined()
  })

  it('omits expired entries in pages, counts and reads of many keys', async () => {
    await putAll({})
    const line = (id: string, more: object) => `${JSON.stringify({ op: 'put', id, value: id, ...more })}\n`
    const past = { expiresAt: 1 }
    const lines = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, i) => line(id, i % 2 === 0 ? {} : past))
    await kv.client.applyBatchLines(lines.join(''))
    expect(await ids({})).toEqual(['a', 'c', 'e'])
    expect(await ids({ reverse: 'true', keys: 'true', limit: '2' })).toEqual(['e', 'c'])
    const listNextCursors = await Promise.all(
      ['1', '2', '3'].map(async (limit) => (await range({ limit })).headers.get('next')),
    )
    expect(listNextCursors).toEqual(['a', 'c', null])
    expect((await range({ reverse: 'true', limit: '2' })).headers.get('next')).toBe('c')
    expect([await kv.client.count(), await kv.client.count({ limit: 2 })]).toEqual([3, 2])
    const found = await kv.client.getMany(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(found.map((one) => one?.value.toString())).toEqual(['a', undefined, 'c', undefined, 'e', undefined])
  })

  it('has only keys, only a count, or only a head', async () => {
    await putAll({ a: '1', b: '2', c: '3' })
    expect((await range({ keys: 'true', end: 'c' })).text).toBe('{"id":"a"}\n{"id":"b"}\n')
    expect((await range({ keys: 'true', end: 'c' }, { accept: 'application/octet-stream' })).text).toBe('ab')
    const count = await range({ count: 'true', start: 'b' })
    expect([count.text, count.headers.get('content-type')]).toEqual(['{"count":2}', 'application/json; charset=utf-8'])
    expect((await range({ count: 'true', limit: '1' })).text).toBe('{"count":1}')
    const head = await range({ limit: '2' }, {}, 'HEAD')
    expect([head.status, head.headers.get('next'), head.text]).toEqual([200, 'b', ''])
    expect(head.headers.get('content-type')).toBe('application/x-ndjson')
  })

  it('is NDJSON unless Accept names octets, or neither Accept nor User-Agent is specific', async () => {
    await putAll({ a: '1' })
    const headers = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join('')
    const get = async (...lines: string[]) => {
      const reply = await exchangeRaw(
        kv.url,
        `GET /v0/entities?start=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers(...lines)}\r\n`,
      )
      expect(reply.toLowerCase()).toContain('vary: accept, user-agent')
      return reply.slice(reply.indexOf('\r\n\r\n') + 4)
    }
    const chunk = '3\r\na\n1\r\n0\r\n\r\n'
    const agent = 'User-Agent: curl/8.5.0'
    for (const sent of [[], ['Accept: */*'], [agent, 'Accept: application/octet-stream']])
      expect(await get(...sent)).toBe(chunk)
    const browser = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'
    const both = 'Accept: application/x-ndjson, application/octet-stream'
    for (const sent of [
      [agent, 'Accept: */*'],
      [agent],
      [browser],
      [agent, browser],
      [both],
      ['Accept: application/x-ndjson'],
    ])
      expect(await get(...sent)).toContain('{"op":"put","id":"a","value":"1"}\n')
  })
})
