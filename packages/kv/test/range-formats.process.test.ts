import { SERVERS } from '@influencer-stats/runtime/settings'
import { describe, expect, it } from 'vitest'
import { exchangeRaw } from './support/raw-exchange.ts'
import { entity, useKv } from './support/kv.ts'

const NDJSON = { accept: 'application/x-ndjson' }

describe.each(SERVERS)('formats of ranges, server %s', (server) => {
  const kv = useKv({ server, valueLimit: 100_000, batchLimit: 200_000 })

  it('returns ranges as one chunk per entry or as lines', async () => {
    for (const id of ['r/é', 'r/a', 'r/b', 'r/B']) await kv.request('PUT', entity(id), `value of ${id}`)
    const range = (query: string, headers = {}) => kv.request('GET', `/v0/entities?${query}`, undefined, headers)
    const ids = async (query: string) => {
      const lines = (await range(query, NDJSON)).text.split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line).id)
    }
    expect(await ids('start=r/&end=r0')).toEqual(['r/B', 'r/a', 'r/b', 'r/é'])
    expect(await ids('start=r/a&end=r/b')).toEqual(['r/a'])
    expect(await ids('start=r/&limit=2')).toEqual(['r/B', 'r/a'])
    expect(await ids('start=r0&end=r/')).toEqual([])
    expect(await ids('start=r/a&end=r/a')).toEqual([])
    expect((await range('start=r/a&limit=1', { accept: 'application/octet-stream' })).text).toBe('r/a\nvalue of r/a')
    const request = 'GET /v0/entities?start=r/&limit=2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    expect(await exchangeRaw(kv.url, request)).toMatch(
      /\r\n\r\n10\r\nr\/B\nvalue of r\/B\r\n10\r\nr\/a\nvalue of r\/a\r\n0\r\n\r\n$/,
    )
    const old = 'GET /v0/entities?start=r/a&limit=1 HTTP/1.0\r\nHost: localhost\r\n\r\n'
    expect(await exchangeRaw(kv.url, old)).toMatch(/\r\n\r\n\{"op":"put","id":"r\/a","value":"value of r\/a"\}\n$/)
  })

  it('reuses a connection after a range', async () => {
    const one = 'GET /v0/entities?start=r/&limit=1 HTTP/1.1\r\nHost: localhost\r\n'
    const reply = await exchangeRaw(kv.url, `${one}\r\n${one}Connection: close\r\n\r\n`)
    expect(reply.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  })

  it.each([
    'start=',
    'prefix=',
    'prefix=a&start=a',
    'prefix=a&end=b',
    'reverse=yes',
    'keys=1',
    'count=',
    'cursor=%ff',
    'start=a&limit=0',
    'start=a&limit=x',
    'start=a&limit=-1',
    'start=a&id=b',
    'start=%80',
  ])('refuses the range "%s"', async (query) => {
    expect((await kv.request('GET', `/v0/entities?${query}`)).code).toBe('QUERY_INVALID')
  })
})
