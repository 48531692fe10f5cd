import { openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createChannel } from '../src/process/channel.ts'
import { configOf, type Overrides } from '../src/process/embed.ts'
import { startService } from '../src/process/host.ts'
import { createLog } from '../src/process/log.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { currentTrace, inTrace, outsideTrace, traceHeaders } from '../src/trace.ts'
import { counter as definition } from './fixtures/services.ts'
import { rawClient, requestText } from './support/raw-client.ts'
import { temporaryFolder } from './support/temporary.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`
const OWN = /^[a-z0-9]{1,6}-[a-z0-9]+$/

/** A counter with hot routes, and the lines of its log. */
async function start(server: string, settings: Overrides = {}) {
  const file = join(temporaryFolder(), 'log')
  const log = createLog('info', {}, [], openSync(file, 'a'))
  const config = configOf(definition, { port: 0, threads: 0, hot: 'yes', server, ...settings })
  const running = await startService({ services: '', definition, config, log })
  onTestFinished(async () => void (await running.stop()))
  return {
    port: Number(new URL(running.url).port),
    ask: (path: string, headers: Record<string, string> = {}) => fetch(running.url + path, { headers }),
    lines: (msg: string) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .filter((line) => line.msg === msg),
  }
}

const HOT = '/items/ab/view'

describe.each(SERVERS)('%s', (server) => {
  test('a request keeps the id that it came with, if that is one', async () => {
    const { ask } = await start(server)
    for (const path of ['/value', HOT, '/nowhere']) {
      const idOf = async (id: string) => (await ask(path, { 'x-request-id': id })).headers.get('x-request-id')
      for (const id of ['a', 'caller:17/x+y=', 'x'.repeat(128)]) expect(await idOf(id)).toBe(id)
      for (const id of ['', 'a b', '<b>', '"', 'x'.repeat(129), 'ü']) expect(await idOf(id)).toMatch(OWN)
    }
  })

  test('on a kept connection each has its own', async () => {
    const { port } = await start(server)
    const client = await rawClient(port)
    const ids = ['a', 'a', 'b', undefined, undefined, 'a']
    client.send(ids.map((id) => requestText('GET', HOT, id === undefined ? {} : { 'x-request-id': id })).join(''))
    const given: string[] = []
    for (const _ of ids) given.push((await client.reply()).headers['x-request-id']!)
    expect(given).toEqual(['a', 'a', 'b', expect.stringMatching(OWN), expect.stringMatching(OWN), 'a'])
    expect(new Set(given).size).toBe(4)
  })

  test('a line a request: of all routes but hot ones and those that machines ask, with the ids of who asked', async () => {
    const { ask, lines } = await start(server)
    for (const path of [HOT, '/healthz', '/readyz', '/metrics']) await (await ask(path)).text()
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
      expect.objectContaining({ route: '(unmatched)', status: 404, requestId: expect.stringMatching(OWN) }),
    ])
    expect(JSON.stringify(lines('request'))).not.toContain('secret')
  })

  test('one in so many, hot ones too where that is asked for', async () => {
    const { ask, lines } = await start(server, { requestLogSampling: 3, hotRequestLogSampling: 4 })
    for (let i = 0; i < 9; i++) await (await ask(HOT, { 'x-request-id': `hot-${i}` })).text()
    await (await ask(HOT, { 'x-request-id': 'a b', traceparent: 'nonsense' })).text()
    for (let i = 0; i < 4; i++) await (await ask('/value', { 'x-request-id': `cold-${i}` })).text()
    const told = lines('request')
    expect(told.map(({ requestId }) => requestId)).toEqual(['hot-0', 'hot-4', 'hot-8', 'cold-0', 'cold-3'])
    expect(told[0]).toMatchObject({ method: 'GET', route: '/items/:id/view', status: 200, address: '127.0.0.1' })
  })

  test('none at all', async () => {
    const { ask, lines } = await start(server, { requestLogSampling: 0 })
    for (const path of [HOT, '/value']) await (await ask(path)).text()
    expect(lines('request')).toEqual([])
  })

  test('an error line has the ids, whoever answers', async () => {
    const { ask, lines } = await start(server)
    for (const path of ['/throw', '/hot-throw', '/later-fault/1']) {
      expect((await ask(path, { 'x-request-id': path, traceparent: TRACEPARENT })).status).toBe(500)
    }
    const failed = lines('request failed')
    expect(failed.map(({ requestId }) => requestId)).toEqual(['/throw', '/hot-throw', '/later-fault/1'])
    for (const line of failed) expect(line.traceId).toBe(TRACE_ID)
  })
})

test('a call to another thread is a part of the same request, and what goes on after it is not', async () => {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const here = createChannel(port1, new Map())
  createChannel(port2, new Map([['who', async () => [currentTrace(), outsideTrace(currentTrace)]]]))
  const trace = { requestId: 'a', traceparent: TRACEPARENT }
  expect(await inTrace(trace, () => here.call('who', []))).toEqual([trace, undefined])
  expect(await here.call('who', [])).toEqual([undefined, undefined])
})

test('what is asked of others for a request carries its ids', async () => {
  const server = createServer(({ headers }, reply) => void reply.end(JSON.stringify(headers))).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asked = async () => (await fetch(url, { headers: traceHeaders() })).json()
  const trace = { requestId: 'a', traceparent: TRACEPARENT }
  expect(await inTrace(trace, asked)).toMatchObject({ 'x-request-id': 'a', traceparent: TRACEPARENT })
  expect(await asked()).not.toHaveProperty('x-request-id')
})
