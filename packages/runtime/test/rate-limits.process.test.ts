import * as fc from 'fast-check'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClientAddressResolver } from '../src/http/request/client-address.ts'
import { createNetworkMatcher } from '../src/net/networks.ts'
import { buildConfig, type Overrides } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { createLogger } from '../src/logging/logger.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { counter as definition } from './fixtures/services.ts'
import { expectProblem, startCounter } from './support/counter-service.ts'
import { openRawClient, formatRequest, type RawReply } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const HOT_PATH = '/items/ab/view'
const TOKEN = 'hunter2hunter2'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const from = (address: string) => ({ 'x-forwarded-for': address })
// A window in which no tokens return during a test.
const HOUR_S = 3_600

const statuses = (replies: readonly RawReply[]) => replies.map(({ status }) => status)

describe.each(SERVERS)('%s', (server) => {
  const start = (settings: Overrides) => startCounter({ server, hot: 'yes', rateLimitWindow: HOUR_S, ...settings })

  test('limits all requests of an address, and states the remaining number', async () => {
    const { request } = await start({ rateLimitPerIp: 5 })
    const replies: RawReply[] = []
    for (const path of [HOT_PATH, '/value', '/nowhere', HOT_PATH, '/value', HOT_PATH, '/value'])
      replies.push(await request('GET', path))
    expect(statuses(replies)).toEqual([200, 200, 404, 200, 200, 429, 429])
    expect(replies.map(({ headers }) => headers.ratelimit)).toEqual(
      [4, 3, 2, 1, 0, 0, 0].map((left) => expect.stringMatching(new RegExp(`^"address";r=${left};t=\\d+$`))),
    )
    for (const { headers } of replies) expect(headers['ratelimit-policy']).toBe(`"address";q=5;w=${HOUR_S}`)
    for (const reply of replies.slice(5)) {
      expectProblem(reply, 429, 'RATE_LIMITED')
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(HOUR_S / 5 - 60)
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(HOUR_S / 5)
    }
    // Probes are not limited.
    for (const path of ['/healthz', '/readyz']) expect((await request('GET', path)).status).toBe(200)
  })

  test('counts each request of a pipeline and of a persistent connection', async () => {
    const { port } = await start({ rateLimitPerIp: 3 })
    const client = await openRawClient(port)
    client.send(formatRequest('GET', HOT_PATH).repeat(5))
    const replies: RawReply[] = []
    for (let i = 0; i < 5; i++) replies.push(await client.reply())
    expect(statuses(replies)).toEqual([200, 200, 200, 429, 429])
    client.send(formatRequest('GET', '/value'))
    expect((await client.reply()).status).toBe(429)
  })

  test('counts refused requests, which limits guesses of a token', async () => {
    const { request } = await start({ rateLimitPerIp: 3, apiToken: TOKEN, readToken: 'r' })
    const replies: RawReply[] = []
    for (const path of [HOT_PATH, HOT_PATH, '/value', HOT_PATH])
      replies.push(await request('GET', path, bearer('guess')))
    expect(statuses(replies)).toEqual([401, 401, 401, 429])
  })

  test('limits each token from any address, in addition to the address', async () => {
    const { request } = await start({ rateLimitPerToken: 2, rateLimitPerIp: 6, apiToken: TOKEN, readToken: 'read' })
    const get = async (token: string) => (await request('GET', HOT_PATH, bearer(token))).status
    expect([await get(TOKEN), await get(TOKEN), await get(TOKEN)]).toEqual([200, 200, 429])
    const { status, headers } = await request('GET', '/value', bearer('read'))
    expect(status).toBe(200)
    expect(headers['ratelimit-policy']).toBe(`"address";q=6;w=${HOUR_S}, "token";q=2;w=${HOUR_S}`)
    expect(headers.ratelimit).toMatch(/^"address";r=2;t=\d+, "token";r=1;t=\d+$/)
    expect([await get('read'), await get('read'), await get('other')]).toEqual([200, 429, 429])
  })

  test('an expensive request counts several times', async () => {
    const { request } = await start({ rateLimitPerIp: 5 })
    expect((await request('GET', '/dear-one')).headers.ratelimit).toMatch(/r=2;/)
    expect((await request('GET', '/dear-one')).status).toBe(429)
    expect((await request('GET', HOT_PATH)).headers.ratelimit).toMatch(/r=1;/)
  })

  test('identifies clients by a trusted proxy, and ignores the header of others', async () => {
    const trusting = await start({ rateLimitPerIp: 1, trustProxy: '10.0.0.0/8,127.0.0.1' })
    const get = async (path: string, address: string) => (await trusting.request('GET', path, from(address))).status
    expect([await get(HOT_PATH, '192.0.2.1'), await get('/value', '192.0.2.1')]).toEqual([200, 429])
    // A client of the proxy may send addresses of its choice before its own.
    expect(await get(HOT_PATH, '192.0.2.77, 192.0.2.1')).toBe(429)
    expect([await get(HOT_PATH, '192.0.2.1, 192.0.2.2, 10.1.2.3'), await get(HOT_PATH, '192.0.2.2')]).toEqual([
      200, 429,
    ])
    expect([await get(HOT_PATH, '2001:db8::1'), await get(HOT_PATH, '2001:db8::2')]).toEqual([200, 429])
    const other = await start({ rateLimitPerIp: 1 })
    const replies = [
      await other.request('GET', HOT_PATH, from('192.0.2.1')),
      await other.request('GET', HOT_PATH, from('192.0.2.2')),
    ]
    expect(statuses(replies)).toEqual([200, 429])
  })

  test('sends no rate limit fields without limits', async () => {
    const { request } = await start({})
    for (const path of [HOT_PATH, '/value']) {
      const { headers } = await request('GET', path)
      expect([headers.ratelimit, headers['ratelimit-policy']]).toEqual([undefined, undefined])
    }
  })

  test('limits the connections of an address, and cuts one more until another ends', async () => {
    const { port, request } = await start({ maxConnectionsPerIp: 3 })
    const clients = await Promise.all([1, 2].map(() => openRawClient(port)))
    for (const client of clients) {
      client.send(formatRequest('GET', HOT_PATH))
      expect((await client.reply()).status).toBe(200)
    }
    // An idle connection that has sent no request counts, too.
    const silent = await openRawClient(port)
    const cut = await openRawClient(port)
    await cut.closed
    for (const client of clients) {
      client.send(formatRequest('GET', HOT_PATH))
      expect((await client.reply()).status).toBe(200)
    }
    silent.socket.destroy()
    const answered = await waitUntil(() => request('GET', '/metrics').catch(() => undefined))
    expect(answered.body).toMatch(/^connections_refused_total\{limit="maxConnectionsPerIp"\} [1-9]/m)
  })
})

test('two threads share a limit', async () => {
  const { port } = await startCounter({ threads: 2, logLevel: 'silent', rateLimitPerIp: 20, rateLimitWindow: HOUR_S })
  const clients = await Promise.all(Array.from({ length: 24 }, () => openRawClient(port)))
  const replies = await Promise.all(
    clients.map(async (client) => {
      client.send(formatRequest('GET', '/value').repeat(2))
      const got: RawReply[] = []
      for (let i = 0; i < 2; i++) got.push(await client.reply())
      return got
    }),
  )
  expect(replies.flat().filter(({ status }) => status === 200)).toHaveLength(20)
})

test('the client is the last address that is not a trusted proxy', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6())
  const proxies = ['10.0.0.0/8', '::1', '127.0.0.1']
  const addressOf = createClientAddressResolver(proxies)
  const proxy = fc.constantFrom(
    '10.1.2.3',
    '10.255.0.1',
    '127.0.0.1',
    '::1',
    '::ffff:10.0.0.1',
    '[::1]:80',
    '10.0.0.7:1234',
  )
  const isProxy = createNetworkMatcher(proxies)
  const client = address.filter((one) => !isProxy(one))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(address, fc.string())),
      client,
      fc.array(proxy),
      proxy,
      (said, caller, path, peer) => {
        const forwarded = [...said.map((text) => text.replaceAll(',', '')), caller, ...path].join(', ')
        const plainPeer = peer.startsWith('[') ? '::1' : peer.replace(/^([\d.]+):\d+$/, '$1')
        expect(addressOf(plainPeer, { 'x-forwarded-for': forwarded })).toBe(caller)
        expect(addressOf(caller, { 'x-forwarded-for': '192.0.2.9' })).toBe(caller)
      },
    ),
  )
  expect(addressOf('10.0.0.1', {})).toBe('10.0.0.1')
  expect(addressOf('::ffff:10.0.0.1', { 'x-forwarded-for': 'unknown, 10.0.0.9' })).toBe('10.0.0.9')
  expect(addressOf(undefined, {})).toBe(undefined)
})

describe.each(SERVERS)('audit, %s', (server) => {
  test('each deletion and replacement has a line with target, caller and request, and without a token', async () => {
    const file = join(createTemporaryFolder(), 'log')
    const settings = { port: 0, threads: 0, hot: 'yes', server, apiToken: TOKEN, trustProxy: '127.0.0.1' }
    const config = buildConfig(definition, settings)
    const log = createLogger(config.logLevel, {}, [], openSync(file, 'a'))
    const running = await startService({ services: '', definition, config, log })
    onTestFinished(async () => void (await running.stop()))
    const request = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const reply = await fetch(running.url + path, { method, headers: { ...type, ...headers }, ...(body && { body }) })
      await reply.text()
      return reply.status
    }
    const headers = { ...bearer(TOKEN), ...from('192.0.2.1'), 'x-request-id': 'caller-1' }
    expect(await request('DELETE', '/items/a', headers)).toBe(200)
    expect(await request('DELETE', '/values/b', headers)).toBe(204)
    expect(await request('PUT', '/value', headers, '{"value":3}')).toBe(200)
    // Refused requests, and requests that change no data, have no line.
    expect(await request('DELETE', '/items/a', { 'x-request-id': 'caller-2' })).toBe(401)
    expect(await request('DELETE', '/nowhere/b', headers)).toBe(404)
    expect(await request('PUT', '/items/a', headers)).toBe(200)
    expect(await request('GET', '/value')).toBe(200)
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    const audit = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit')
    const by = expect.stringMatching(/^apiToken [\da-f]{8}$/)
    const common = { level: 30, by, address: '192.0.2.1', requestId: 'caller-1' }
    expect(audit).toEqual([
      expect.objectContaining({ ...common, change: 'delete', what: 'a', route: '/items/:id' }),
      expect.objectContaining({ ...common, change: 'delete', what: 'b', route: '/values/:id' }),
      expect.objectContaining({ ...common, change: 'replace', what: '0', route: '/value' }),
    ])
    expect(lines.join('')).not.toContain(TOKEN)
  })
})
