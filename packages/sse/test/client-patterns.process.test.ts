import { SERVERS } from '@influencer-stats/runtime/settings'
import { describe, expect, it } from 'vitest'
import { HUB } from './support/mercure-client.ts'
import { MERCURE, sign, toBearerHeader } from './support/sign-tokens.ts'
import { startSse, type TestSse } from './support/test-sse.ts'

/** The query of a stream with several patterns. All begin with `https://x.example/`. */
const toQuery = (count: number, name: string) =>
  `?${Array.from({ length: count }, (_, i) => `match_urlpattern=${encodeURIComponent(`https://x.example/:${name}${i}/p${i}`)}`).join('&')}`

const NEWS = `?match_urlpattern=${encodeURIComponent('https://x.example/:tenant/news')}`

const open = async (sse: TestSse, query: string, headers: Record<string, string>) => {
  const stream = await sse.open(query, { path: HUB, headers })
  return { status: stream.status, close: () => stream.socket.destroy() }
}

describe.each(SERVERS)('the limit of patterns, served by %s', (server) => {
  const settings = { ...MERCURE, server, threads: 1, mercureAnonymous: 'on', trustProxy: '127.0.0.1' }
  const from = (address: string) => ({ 'x-forwarded-for': address })

  it('is per address, so that no client uses up the patterns of others', async () => {
    const sse = await startSse(settings)
    const first = await open(sse, toQuery(100, 'a'), from('203.0.113.1'))
    expect(first.status).toBe(200)
    expect((await open(sse, toQuery(28, 'b'), from('203.0.113.1'))).status).toBe(200)
    expect((await open(sse, NEWS, from('203.0.113.1'))).status).toBe(429)
    expect((await open(sse, NEWS, from('203.0.113.2'))).status).toBe(200)
    // A pattern that the client already has counts once. The end of a stream frees its patterns.
    expect((await open(sse, toQuery(28, 'b'), from('203.0.113.1'))).status).toBe(200)
    first.close()
    await expect.poll(async () => (await open(sse, NEWS, from('203.0.113.1'))).status).toBe(200)
  })

  it('is per network of 64 bits for addresses of IPv6', async () => {
    const sse = await startSse(settings)
    expect((await open(sse, toQuery(100, 'a'), from('2001:db8:1:2::1'))).status).toBe(200)
    expect((await open(sse, toQuery(29, 'b'), from('2001:db8:1:2:a:b:c:d'))).status).toBe(429)
    expect((await open(sse, toQuery(29, 'b'), from('2001:db8:1:3::1'))).status).toBe(200)
  })

  it('counts all patterns of a request together', async () => {
    const sse = await startSse(settings)
    expect((await open(sse, toQuery(70, 'a'), from('203.0.113.1'))).status).toBe(200)
    expect((await open(sse, toQuery(59, 'b'), from('203.0.113.1'))).status).toBe(429)
    expect((await open(sse, toQuery(58, 'b'), from('203.0.113.1'))).status).toBe(200)
  })

  it('is per issuer and subject of a token', async () => {
    const sse = await startSse(settings)
    const toHeaders = async (sub: string) => ({
      ...toBearerHeader(await sign({ subscribe: ['*'] }, { claims: { sub } })),
      ...from('203.0.113.1'),
    })
    const [ann, again, bob] = await Promise.all([toHeaders('ann'), toHeaders('ann'), toHeaders('bob')])
    expect((await open(sse, toQuery(100, 'a'), ann)).status).toBe(200)
    expect((await open(sse, toQuery(28, 'b'), { ...again, ...from('203.0.113.2') })).status).toBe(200)
    expect((await open(sse, NEWS, ann)).status).toBe(429)
    for (const headers of [bob, from('203.0.113.1')]) expect((await open(sse, NEWS, headers)).status).toBe(200)
  })
})
