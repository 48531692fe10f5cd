import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRequestGuard } from '../src/http/request/request-guard.ts'
import type { Access } from '../src/net/request.ts'
import { isLoopback } from '../src/net/served-hosts.ts'
import { expectProblem, startCounter } from './support/counter-service.ts'

const open = { host: '127.0.0.1', apiToken: '', readToken: '', allowedHosts: [], corsOrigins: [] }

function getVerdict(
  settings: Partial<Parameters<typeof createRequestGuard>[0]>,
  access: Access,
  headers: object,
): string {
  return (
    createRequestGuard({ ...open, ...settings }).check({ headers: { host: 'localhost', ...headers } }, access)?.code ??
    'welcome'
  )
}

describe('Host', () => {
  test.each(['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:8080', 'localhost:'])(
    '%s is served',
    (host) => expect(getVerdict({}, 'host', { host })).toBe('welcome'),
  )

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80', 'x@localhost', '127.0.0.2', ':1'])(
    '%s is refused',
    (host) => expect(getVerdict({}, 'host', { host })).toBe('MISDIRECTED_HOST'),
  )

  test('a request without a host is refused', () => {
    expect(getVerdict({}, 'open', { host: undefined })).toBe('HOST_MISSING')
    expect(getVerdict({}, 'open', { host: '' })).toBe('HOST_MISSING')
  })

  test('allowed hosts and the listen address are served, with any port', () => {
    const settings = { host: '192.168.1.5', allowedHosts: ['Stats.example', 'other.example:9000'] }
    expect(getVerdict(settings, 'host', { host: 'stats.example:1234' })).toBe('welcome')
    expect(getVerdict(settings, 'host', { host: 'other.example:9000' })).toBe('welcome')
    expect(getVerdict(settings, 'host', { host: 'other.example:9001' })).toBe('MISDIRECTED_HOST')
    expect(getVerdict(settings, 'host', { host: '192.168.1.5:8080' })).toBe('welcome')
    expect(getVerdict({ host: 'fd00::5' }, 'host', { host: '[fd00::5]:8080' })).toBe('welcome')
  })

  test('recognizes only loopback addresses as loopback', () => {
    expect(['localhost', '127.0.0.1', '127.8.9.1', '::1'].every(isLoopback)).toBe(true)
    expect(['0.0.0.0', '::', '127.evil.example', '10.0.0.1', '128.0.0.1'].some(isLoopback)).toBe(false)
  })
})

describe('a change of state', () => {
  test.each([
    [{ origin: 'https://evil.example' }, 'CROSS_SITE'],
    [{ origin: 'http://localhost:1' }, 'CROSS_SITE'],
    [{ origin: 'null' }, 'CROSS_SITE'],
    [{ origin: '' }, 'CROSS_SITE'],
    [{ 'sec-fetch-site': 'cross-site' }, 'CROSS_SITE'],
    [{ 'sec-fetch-site': 'same-site' }, 'CROSS_SITE'],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8080' }, 'welcome'],
    [{ 'sec-fetch-site': 'same-origin' }, 'welcome'],
    [{ 'sec-fetch-site': 'none' }, 'welcome'],
    [{ origin: 'http://localhost:8080' }, 'welcome'],
    [{ origin: 'https://friend.example' }, 'welcome'],
    [{}, 'welcome'],
  ])('from %j: %s', (headers, expected) => {
    const settings = { corsOrigins: ['https://friend.example'] }
    expect(getVerdict(settings, 'change', { host: 'localhost:8080', ...headers })).toBe(expected)
    expect(getVerdict(settings, 'read', { host: 'localhost:8080', ...headers })).toBe('welcome')
  })
})

describe('tokens', () => {
  const tokens = { apiToken: 'write-secret', readToken: 'read-secret' }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  test('are not necessary unless they are set', () => {
    expect(getVerdict({}, 'change', {})).toBe('welcome')
    expect(getVerdict({}, 'read', bearer('whatever'))).toBe('welcome')
    expect(getVerdict({ apiToken: 'write-secret' }, 'read', {})).toBe('welcome')
  })

  test.each([
    ['change', bearer('write-secret'), 'welcome'],
    ['change', { authorization: 'bearer   write-secret' }, 'welcome'],
    ['change', bearer('read-secret'), 'UNAUTHORIZED'],
    ['change', bearer('write-secret2'), 'UNAUTHORIZED'],
    ['change', bearer(''), 'UNAUTHORIZED'],
    ['change', { authorization: 'Basic write-secret' }, 'UNAUTHORIZED'],
    ['change', { authorization: 'write-secret' }, 'UNAUTHORIZED'],
    ['change', {}, 'UNAUTHORIZED'],
    ['read', bearer('read-secret'), 'welcome'],
    ['read', bearer('write-secret'), 'welcome'],
    ['read', {}, 'UNAUTHORIZED'],
    ['open', {}, 'welcome'],
  ] as const)('%s with %j: %s', (access, headers, expected) => {
    expect(getVerdict(tokens, access, headers)).toBe(expected)
  })

  test('a token that was passed separately counts', () => {
    const guard = createRequestGuard({ ...open, ...tokens })
    expect(guard.check({ headers: { host: 'localhost' } }, 'read', 'read-secret')).toBeUndefined()
    expect(guard.check({ headers: { host: 'localhost', ...bearer('read-secret') } }, 'read', 'wrong')?.code).toBe(
      'UNAUTHORIZED',
    )
  })

  test('refuses any other text of any length without an error', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        fc.pre(given.trim() !== 'write-secret')
        expect(getVerdict(tokens, 'change', bearer(given))).toBe('UNAUTHORIZED')
      }),
    )
  })
})

describe('over HTTP', () => {
  test('401, 403 and 421 change nothing; health checks are open', async () => {
    const counter = await startCounter({ apiToken: 'write-secret', readToken: 'read-secret' })
    const body = '{"value":9}'
    const writer = { authorization: 'Bearer write-secret' }
    const reply = await counter.request('PUT', '/value', {}, body)
    expectProblem(reply, 401, 'UNAUTHORIZED')
    expect(reply.headers['www-authenticate']).toBe('Bearer')
    expectProblem(
      await counter.request('PUT', '/value', { authorization: 'Bearer read-secret' }, body),
      401,
      'UNAUTHORIZED',
    )
    expectProblem(
      await counter.request('PUT', '/value', { ...writer, origin: 'http://evil.example' }, body),
      403,
      'CROSS_SITE',
    )
    expectProblem(
      await counter.request('PUT', '/value', { ...writer, host: 'evil.example' }, body),
      421,
      'MISDIRECTED_HOST',
    )
    expectProblem(await counter.request('GET', '/value'), 401, 'UNAUTHORIZED')
    expectProblem(await counter.request('GET', '/metrics'), 401, 'UNAUTHORIZED')
    // Probes send an address as `Host`.
    expect((await counter.request('GET', '/healthz', { host: '10.1.2.3:8080' })).status).toBe(200)
    expect((await counter.request('GET', '/readyz', { host: '10.1.2.3:8080' })).status).toBe(200)
    expectProblem(await counter.request('GET', '/nowhere', { host: 'evil.example' }), 421, 'MISDIRECTED_HOST')
    expect((await counter.request('GET', '/healthz')).status).toBe(200)
    expect((await counter.request('GET', '/value', writer)).body).toBe('{"value":0}')
    expect((await counter.request('PUT', '/value', writer, body)).status).toBe(200)
  })
})
