import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Registry } from '../src/metrics/prom-client.ts'
import { createUpstreamTimer } from '../src/tracing/upstream-timer.ts'
import { buildConfig, type Overrides } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { createLogger } from '../src/logging/logger.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { runInTrace, parseTraceparent } from '../src/trace.ts'
import { createTracer } from '../src/tracing/tracer.ts'
import { counter as definition } from './fixtures/services.ts'
import { startCollector } from './support/collector.ts'
import { findFreePort } from './support/free-port.ts'
import { startProcessClock } from './support/process-clock.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const traceparent = (flags: string) => `00-${TRACE_ID}-${CALLER}-${flags}`
const SERVER_KIND = 2
const CLIENT_KIND = 3

/** A counter with hot routes that sends spans, and its log lines. */
async function start(settings: Overrides) {
  const file = join(createTemporaryFolder(), 'log')
  const config = buildConfig(definition, { port: 0, threads: 0, hot: 'yes', hotRequestLogSampling: 1, ...settings })
  const log = createLogger('info', {}, [], openSync(file, 'a'))
  const running = await startService({ services: '', definition, config, log })
  onTestFinished(async () => void (await running.stop()))
  return {
    stop: () => running.stop(),
    async request(path: string, headers: Record<string, string> = {}) {
      const reply = await fetch(running.url + path, { headers })
      await reply.text()
      return reply
    },
    lines: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  }
}

describe.each(SERVERS)('%s', (server) => {
  test('each request is a span, and a child of the span of its client if that is given', async () => {
    const collector = await startCollector()
    const headers = 'authorization=Bearer%20hunter2hunter2, x-team=a'
    const { request: ask, stop, lines } = await start({ server, otlpEndpoint: collector.url, otlpHeaders: headers })
    const begun = BigInt(Date.now()) * 1_000_000n
    const callerHeaders = { traceparent: traceparent('01'), 'x-request-id': 'caller-1' }
    for (const path of ['/items/ab/view', '/value?token=secret', '/hot-throw']) await ask(path, callerHeaders)
    for (const path of ['/items/ab/view', '/later/1', '/nowhere']) await ask(path)
    for (const path of ['/healthz', '/metrics']) await ask(path)
    await ask('/value', { traceparent: traceparent('00') })
    // The rest of the spans is sent during the stop.
    await stop()
    const { spans, requests } = collector
    expect(spans.map(({ name }) => name).toSorted()).toEqual(
      [
        'GET (unmatched)',
        ...['items/:id/view', 'items/:id/view', 'hot-throw', 'later/:turns', 'value'].map((one) => `GET /${one}`),
      ].toSorted(),
    )
    const parts = spans.filter(({ parentSpanId }) => parentSpanId !== undefined)
    expect(parts).toHaveLength(3)
    for (const span of parts) expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: CALLER })
    for (const span of spans) {
      expect(span).toMatchObject({ service: 'counter', kind: SERVER_KIND })
      expect(span.start).toBeGreaterThanOrEqual(begun - 1_000_000_000n)
      expect(span.end).toBeGreaterThanOrEqual(span.start)
      expect(span.end).toBeLessThan(BigInt(Date.now() + 1_000) * 1_000_000n)
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(4)
    const failed = spans.find(({ name }) => name === 'GET /hot-throw')!
    expect(failed).toMatchObject({
      status: { code: 2 },
      attributes: { 'http.response.status_code': '500', 'request.id': 'caller-1' },
    })
    expect(JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? 0 : value))).not.toContain('secret')
    expect(requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer hunter2hunter2', 'x-team': 'a' },
    })
    // Each request line of the log has its trace id.
    const known = new Set(spans.map(({ traceId }) => traceId))
    const warnings = lines().filter(({ msg, status }) => msg === 'request' && status === 200)
    expect(warnings.length).toBeGreaterThan(3)
    for (const { traceId } of warnings) expect(known).toContain(traceId)
  })

  test('works without a collector, and logs that once', async () => {
    const {
      request: ask,
      stop,
      lines,
    } = await start({ server, otlpEndpoint: `http://127.0.0.1:${await findFreePort()}` })
    const warnings = () => lines().filter(({ msg }) => msg === 'spans cannot be sent to the collector')
    for (let i = 0; i < 2; i++) expect((await ask('/items/ab/view')).status).toBe(200)
    await waitUntil(() => warnings().length === 1)
    expect((await ask('/value')).status).toBe(200)
    expect(await stop()).toBe(true)
    expect(warnings()).toHaveLength(1)
  })
})

describe('outgoing calls', () => {
  const tracerOf = (url: string, traceSample = '1', registry = new Registry()) => {
    const log = createLogger('silent', {}, [])
    const options = { endpoint: url, headers: '', service: 'one', version: '1', log, registry }
    const tracer = createTracer(options, { traceSample })
    return { tracer, registry, timer: createUpstreamTimer({ registry, tracer }) }
  }

  test('are children of their request, and carry a separate span id', async () => {
    const collector = await startCollector()
    const { tracer, timer } = tracerOf(collector.url)
    const trace = tracer.startRequest({ traceparent: traceparent('01') }, 'caller-1')
    const call = runInTrace(trace, () => timer('kv'))
    call.end(503)
    const other = runInTrace(trace, () => timer('youtube'))
    other.end('timeout')
    tracer.endRequest(trace, { method: 'GET', route: '/a', status: 200, startedAt: performance.now() })
    await tracer.close()
    const { spanId } = parseTraceparent(trace.traceparent)!
    const [kv, youtube, request] = collector.spans
    expect(request).toMatchObject({ spanId, parentSpanId: CALLER, traceId: TRACE_ID })
    expect(kv).toMatchObject({
      name: 'kv',
      kind: CLIENT_KIND,
      traceId: TRACE_ID,
      parentSpanId: spanId,
      status: { code: 2 },
    })
    expect(youtube).toMatchObject({
      parentSpanId: spanId,
      attributes: { 'error.type': 'timeout', 'peer.service': 'youtube' },
    })
    expect(call.headers).toEqual({ 'x-request-id': 'caller-1', traceparent: `00-${TRACE_ID}-${kv!.spanId}-01` })
  })

  test('without a request begin a trace, and for an unsampled request have no span', async () => {
    const collector = await startCollector()
    const { tracer, timer } = tracerOf(collector.url)
    const own = timer('youtube')
    own.end(200)
    const trace = tracer.startRequest({ traceparent: traceparent('00') }, 'caller-1')
    const call = runInTrace(trace, () => timer('kv'))
    call.end(200)
    expect(call.headers.traceparent).toBe(traceparent('00'))
    await tracer.close()
    expect(collector.spans).toHaveLength(1)
    expect(collector.spans[0]!.parentSpanId).toBe(undefined)
    expect(own.headers.traceparent).toContain(collector.spans[0]!.traceId)
    const none = tracerOf(collector.url, '0')
    expect(none.tracer.startRequest({}, 'a').span).toBe(undefined)
    await none.tracer.close()
  })

  test('sends several batches on one connection', async () => {
    const collector = await startCollector()
    const { tracer, registry } = tracerOf(collector.url)
    const trace = tracer.startRequest({}, 'a')
    for (let i = 0; i < 4_000; i++) tracer.endRequest(trace, { method: 'GET', route: '/', status: 200, startedAt: 0 })
    await waitUntil(() => collector.spans.length === 4_000)
    await tracer.close()
    const metrics = await registry.metrics()
    expect(metrics).toMatch(/^spans_dropped_total 0$/m)
    expect(metrics).toMatch(/^spans_sent_total 4000$/m)
  })

  test('counts and bounds the spans that the collector refuses', async () => {
    const collector = await startCollector()
    collector.replyStatus = 503
    const { tracer, registry } = tracerOf(collector.url)
    const trace = tracer.startRequest({}, 'a')
    for (let i = 0; i < 10_000; i++) tracer.endRequest(trace, { method: 'GET', route: '/', status: 200, startedAt: 0 })
    await tracer.close()
    const metrics = await registry.metrics()
    expect(metrics).toMatch(/^spans_dropped_total 10000$/m)
    expect(metrics).toMatch(/^spans_sent_total 0$/m)
  })

  test('a collector that never replies holds a bounded number of spans, and does not delay the exit', async () => {
    const collector = await startCollector()
    collector.replyStatus = 0
    const { tracer, registry } = tracerOf(collector.url)
    const trace = tracer.startRequest({}, 'a')
    for (let i = 0; i < 10_000; i++) tracer.endRequest(trace, { method: 'GET', route: '/', status: 200, startedAt: 0 })
    // 512 are in flight, and 4,096 wait.
    expect(await registry.metrics()).toMatch(/^spans_dropped_total 5392$/m)
    const time = startProcessClock()
    await tracer.close()
    expect(time()).toBeLessThan(4_000)
  })
})
