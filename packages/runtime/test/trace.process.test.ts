import { openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createChannel } from '../src/channel/channel.ts'
import { buildConfig, type Overrides } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { createLogger } from '../src/logging/logger.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { getCurrentTrace, runInTrace, runOutsideTrace, getTraceHeaders } from '../src/trace.ts'
import { counter as definition } from './fixtures/services.ts'
import { openRawClient, formatRequest } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`
const GENERATED_ID = /^[a-z0-9]{1,6}-[a-z0-9]+$/

/** A counter with hot routes, and its log lines. */
async function start(server: string, settings: Overrides = {}) {
  const file = join(createTemporaryFolder(), 'log')
  const log = createLogger('info', {}, [], openSync(file, 'a'))
  const config = buildConfig(definition, { port: 0, threads: 0, hot: 'yes', server, ...settings })
  const running = await startService({ services: '', definition, config, log })
  onTestFinished(async () => void (await running.stop()))
  return {
    port: Number(new URL(running.url).port),
    request: (path: string, headers: Record<string, string> = {}) => fetch(running.url + path, { headers }),
    lines: (msg: string) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .filter((line) => line.msg === msg),
  }
}

const HOT_PATH = '/items/ab/view'

describe.each(SERVERS)('%s', (server) => {
  test('a request retains a valid id of its client', async () => {
    const { request: ask } = await start(server)
    for (const path of ['/value', HOT_PATH, '/nowhere']) {
      const idOf = async (id: string) => (await ask(path, { 'x-request-id': id })).headers.get('x-request-id')
      for (const id of ['a', 'caller:17/x+y=', 'x'.repeat(128)]) expect(await idOf(id)).toBe(id)
      for (const id of ['', 'a b', '<b>', '"', 'x'.repeat(129), 'ü']) expect(await idOf(id)).toMatch(GENERATED_ID)
    }
  })

  test('each request of a persistent connection has a separate id', async () => {
    const { port } = await start(server)
    const client = await openRawClient(port)
    const ids = ['a', 'a', 'b', undefined, undefined, 'a']
    client.send(
      ids.map((id) => formatRequest('GET', HOT_PATH, id === undefined ? {} : { 'x-request-id': id })).join(''),
    )
    const given: string[] = []
    for (const _ of ids) given.push((await client.reply()).headers['x-request-id']!)
    expect(given).toEqual([
      'a',
      'a',
      'b',
      expect.stringMatching(GENERATED_ID),
      expect.stringMatching(GENERATED_ID),
      'a',
    ])
    expect(new Set(given).size).toBe(4)
  })

  test('logs a line per request with ids, except for hot routes, probes and metrics', async () => {
    const { request: ask, lines } = await start(server)
    for (const path of [HOT_PATH, '/healthz', '/readyz', '/metrics']) await (await ask(path)).text()
    await (await ask('/value?token=secret', { 'x-request-id': 'caller-1', traceparent: TRACEPARENT })).text()
    await (await ask('/nowhere')).text()
    expect(lines('request')).toEqual([
      expect.objectContaining({
        requestId: 'caller-1',
        traceId: TRACE_ID,
        method: 'GET',
        route: '/value',
        status: 200,
        address: '127.0.0.1',
        ms: expect.any(Number),
      }),
      expect.objectContaining({ route: '(unmatched)', status: 404, requestId: expect.stringMatching(GENERATED_ID) }),
    ])
    expect(JSON.stringify(lines('request'))).not.toContain('secret')
  })

  test('logs a sample of the requests, and of hot ones if configured', async () => {
    const { request: ask, lines } = await start(server, { requestLogSampling: 3, hotRequestLogSampling: 4 })
    for (let i = 0; i < 9; i++) await (await ask(HOT_PATH, { 'x-request-id': `hot-${i}` })).text()
    await (await ask(HOT_PATH, { 'x-request-id': 'a b', traceparent: 'nonsense' })).text()
    for (let i = 0; i < 4; i++) await (await ask('/value', { 'x-request-id': `cold-${i}` })).text()
    const logged = lines('request')
    expect(logged.map(({ requestId }) => requestId)).toEqual(['hot-0', 'hot-4', 'hot-8', 'cold-0', 'cold-3'])
    expect(logged[0]).toMatchObject({ method: 'GET', route: '/items/:id/view', status: 200, address: '127.0.0.1' })
  })

  test('logs no request if sampling is off', async () => {
    const { request: ask, lines } = await start(server, { requestLogSampling: 0 })
    for (const path of [HOT_PATH, '/value']) await (await ask(path)).text()
    expect(lines('request')).toEqual([])
  })

  test('an error line has the ids, on every kind of route', async () => {
    const { request: ask, lines } = await start(server)
    for (const path of ['/throw', '/hot-throw', '/later-fault/1']) {
      expect((await ask(path, { 'x-request-id': path, traceparent: TRACEPARENT })).status).toBe(500)
    }
    const failed = lines('request failed')
    expect(failed.map(({ requestId }) => requestId)).toEqual(['/throw', '/hot-throw', '/later-fault/1'])
    for (const line of failed) expect(line.traceId).toBe(TRACE_ID)
  })
})

test('a call to another thread belongs to the same request, and later work does not', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const here = createChannel(port1, new Map())
  createChannel(port2, new Map([['who', async () => [getCurrentTrace(), runOutsideTrace(getCurrentTrace)]]]))
  const trace = { requestId: 'a', traceparent: TRACEPARENT }
  expect(await runInTrace(trace, () => here.call('who', []))).toEqual([trace, undefined])
  expect(await here.call('who', [])).toEqual([undefined, undefined])
})

test('outgoing calls of a request carry its ids', async () => {
  const server = createServer(({ headers }, reply) => void reply.end(JSON.stringify(headers))).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fetchHeaders = async () => (await fetch(url, { headers: getTraceHeaders() })).json()
  const trace = { requestId: 'a', traceparent: TRACEPARENT }
  expect(await runInTrace(trace, fetchHeaders)).toMatchObject({ 'x-request-id': 'a', traceparent: TRACEPARENT })
  expect(await fetchHeaders()).not.toHaveProperty('x-request-id')
})
