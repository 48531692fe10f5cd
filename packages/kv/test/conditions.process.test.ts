import { SERVERS } from '@influencer-stats/runtime/settings'
import { describe, expect, it } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { entity, useKv } from './support/kv.ts'

describe.each(SERVERS)('conditions and preferences of writes, server %s', (server) => {
  const kv = useKv({ server, valueLimit: 100_000, batchLimit: 200_000 })

  it('writes only if the condition holds', async () => {
    const put = (body: string, headers: Record<string, string>) => kv.request('PUT', entity('c'), body, headers)
    expect((await put('x', { 'if-match': '*' })).code).toBe('CONDITION_FAILED')
    expect((await put('1', { 'if-none-match': '*' })).status).toBe(201)
    expect((await put('2', { 'if-none-match': '*' })).code).toBe('CONDITION_FAILED')
    const etag = (await kv.request('GET', entity('c'))).headers.get('etag')!
    expect((await put('2', { 'if-match': '"other"' })).code).toBe('CONDITION_FAILED')
    expect((await put('2', { 'if-match': `W/${etag}` })).code).toBe('CONDITION_FAILED')
    expect((await put('2', { 'if-match': `"other" , ${etag}` })).status).toBe(201)
    expect((await put('3', { 'if-match': etag })).code).toBe('CONDITION_FAILED')
    expect((await kv.request('GET', entity('c'))).text).toBe('2')
    for (const bad of ['etag', '"a" "b"', '*, "a"', ''])
      expect((await put('3', { 'if-match': bad })).code).toBe('CONDITION_INVALID')
    expect((await kv.request('DELETE', entity('c'), undefined, { 'if-match': etag })).code).toBe('CONDITION_FAILED')
    expect((await kv.request('DELETE', entity('c'), undefined, { 'if-match': '*' })).status).toBe(202)
  })

  it('answers an unconditional put before its write if the client prefers that', async () => {
    const prefer = (value: string) => ({ prefer: value })
    for (const wish of ['respond-async', 'return=minimal, Respond-Async', 'respond-async; wait=1']) {
      const { status, headers } = await kv.request('PUT', entity('soon'), wish, prefer(wish))
      expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async'])
      expect(headers.get('etag')).toBeNull()
      await waitUntil(async () => (await kv.request('GET', entity('soon'))).text === wish)
    }
    const preference: [string, Record<string, string>][] = [
      ['', {}],
      ['', { prefer: 'respond-asynchronously' }],
      ['&durable=true', prefer('respond-async')],
      ['&ttl=60', prefer('respond-async')],
      ['', { ...prefer('respond-async'), 'if-match': '*' }],
      ['', { ...prefer('respond-async'), 'idempotency-key': `"soon-${server}"` }],
    ]
    for (const [query, headers] of preference) {
      const put = await kv.request('PUT', entity('soon') + query, 'x', headers)
      expect([query, put.status, put.headers.get('preference-applied')]).toEqual([query, 201, null])
      expect(put.headers.get('etag')).not.toBeNull()
    }
    expect((await kv.request('PUT', entity('soon'), 'x'.repeat(100_001), prefer('respond-async'))).status).toBe(413)
  })

  it('distinguishes a value from the same bytes written again, by any kind of write', async () => {
    const line = JSON.stringify({ op: 'put', id: 'aba', value: 'A' })
    const ways: [string, () => Promise<unknown>][] = [
      ['put', () => kv.request('PUT', entity('aba'), 'A')],
      ['put durably', () => kv.request('PUT', `${entity('aba')}&durable=true`, 'A')],
      ['put by a batch', () => kv.request('POST', '/v0/batch', line)],
      ['put under a condition', () => kv.request('PUT', entity('aba'), 'A', { 'if-match': '*' })],
    ]
    const tags = new Set<string>()
    for (const [way, putAgain] of ways) {
      for (const between of [
        () => kv.request('PUT', entity('aba'), 'B'),
        () => kv.request('DELETE', entity('aba')).then(() => kv.request('PUT', entity('aba'), 'B')),
        () => Promise.resolve(),
      ]) {
        await kv.request('PUT', entity('aba'), 'A')
        const old = (await kv.request('GET', entity('aba'))).headers.get('etag')!
        await between()
        await putAgain()
        const swap = await kv.request('PUT', entity('aba'), 'C', { 'if-match': old })
        expect([way, swap.code]).toEqual([way, 'CONDITION_FAILED'])
        expect((await kv.request('DELETE', entity('aba'), undefined, { 'if-match': old })).code).toBe(
          'CONDITION_FAILED',
        )
        const now = await kv.request('GET', entity('aba'), undefined, { 'if-none-match': old })
        expect(now).toMatchObject({ status: 200, text: 'A' })
        for (const tag of [old, now.headers.get('etag')!]) expect(tags.has(tag)).toBe(false)
        tags.add(old).add(now.headers.get('etag')!)
      }
    }
  })

  it('replies 304 if the client has the value, and 412 if a condition fails', async () => {
    await kv.request('PUT', entity('n'), 'x')
    const etag = (await kv.request('GET', entity('n'))).headers.get('etag')!
    const get = (headers: Record<string, string>) => kv.request('GET', entity('n'), undefined, headers)
    for (const tags of [etag, `W/${etag}`, `"a", ${etag}`, '*'])
      expect(await get({ 'if-none-match': tags })).toMatchObject({ status: 304, text: '' })
    expect((await get({ 'if-none-match': '"a"' })).status).toBe(200)
    expect((await get({ 'if-none-match': 'a' })).code).toBe('CONDITION_INVALID')
    expect((await get({ 'if-match': '"a"' })).code).toBe('CONDITION_FAILED')
    expect((await get({ 'if-match': etag })).status).toBe(200)
  })
})
