import * as fc from 'fast-check'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Counter, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { RequestMetrics } from '../src/metrics/request-metrics.ts'
import { mergeMetrics } from '../src/metrics/process-metrics.ts'
import { startCounter } from './support/counter-service.ts'
import { connectPerThread } from './support/client-fleet.ts'
import { formatRequest, type RawClient } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const observation = fc.record({
  route: fc.constantFrom('/a', '/b'),
  status: fc.constantFrom(200, 404),
  seconds: fc.oneof(fc.constantFrom(0, 0.0001, 0.001, 10), fc.double({ min: 0, max: 20, noNaN: true })),
})

// The order of lines and labels has no meaning.
const sorted = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').toSorted().join()}}`))
    .toSorted()

test('equals the histogram of prom-client, line by line', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { minLength: 1 }), async (observations) => {
      const actual = new Registry()
      const metrics = new RequestMetrics(actual)
      const expected = new Registry()
      const routes = new Map(['/a', '/b'].map((route) => [route, metrics.getRoute('GET', route)]))
      const { name, help } = (await actual.getMetricsAsJSON())[0]!
      const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
      const labelNames = ['method', 'route', 'status'] as const
      const reference = new Histogram({ name, help, buckets, labelNames, registers: [expected] })
      for (const { route, status, seconds } of observations) {
        routes.get(route)!.observe(status, seconds)
        reference.observe({ method: 'GET', route, status }, seconds)
      }
      const lines = async (registry: Registry) => sorted(await mergeMetrics([await registry.getMetricsAsJSON()]))
      expect(await lines(actual)).toEqual(await lines(expected))
      expect(sorted(await actual.metrics())).toEqual(sorted(await expected.metrics()))
    }),
    { numRuns: 30 },
  )
})

test('merging adds up the counters of threads', async () => {
  const parts = await Promise.all(
    [3, 4].map(async (n) => {
      const registry = new Registry()
      new Counter({ name: 'things_total', help: 'Things.', registers: [registry] }).inc(n)
      return registry.getMetricsAsJSON()
    }),
  )
  expect(await mergeMetrics(parts)).toMatch(/^things_total 7$/m)
})

test.each([0, 1, 3])('GET /metrics counts the requests of %i threads', async (threads) => {
  const counter = await startCounter({ threads })
  for (let i = 0; i < 20; i++) await counter.request('GET', '/value')
  await counter.request('GET', '/nowhere')
  await counter.request('PUT', '/value', {}, '{')
  const threadLines = /^thread_event_loop_utilization\{thread="\d"\}/gm
  // On a busy machine, a thread that does not answer in time is left out.
  const { body, headers } = await waitUntil(async () => {
    const reply = await counter.request('GET', '/metrics')
    return reply.body.match(threadLines)?.length === Math.max(1, threads) && reply
  })
  expect(headers['content-type']).toMatch(/^text\/plain/)
  const count = (labels: string) =>
    body
      .split('\n')
      .find((line) => line.includes(`_count{${labels}}`))
      ?.split(' ')
      .at(-1)
  expect(count('method="GET",route="/value",status="200"')).toBe('20')
  expect(count('method="PUT",route="/value",status="400"')).toBe('1')
  expect(count('method="-",route="(unmatched)",status="404"')).toBe('1')
  expect(body).toMatch(/^process_resident_memory_bytes \d+/m)
  expect(body).toMatch(/^threads_respawned_total 0$/m)
})

/** A gate that blocks a thread until it opens. The watchdog does not replace the thread meanwhile. */
function createGate() {
  const file = join(createTemporaryFolder(), 'gate')
  return { block: formatRequest('POST', `/block?gate=${file}`), open: () => writeFileSync(file, '') }
}

test('GET /metrics omits a blocked thread, and includes it afterwards', async () => {
  const counter = await startCounter({ threads: 3 })
  const [blocked, other] = [...(await connectPerThread(counter.port, 3)).values()] as [RawClient, RawClient]
  async function countThreads(): Promise<number> {
    other.send(formatRequest('GET', '/metrics'))
    return (await other.reply()).body.match(/^thread_event_loop_utilization/gm)?.length ?? 0
  }
  await waitUntil(async () => (await countThreads()) === 3)
  const file = createGate()
  blocked.send(file.block)
  await blocked.reply()
  await waitUntil(async () => (await countThreads()) === 2)
  file.open()
  await waitUntil(async () => (await countThreads()) === 3)
})

test('the counts of a thread remain while it is blocked and after its replacement', async () => {
  const counter = await startCounter({ threads: 2 })
  const [victim, other] = [...(await connectPerThread(counter.port, 2)).values()] as [RawClient, RawClient]
  async function countRequests(): Promise<{ values: number; threads: number; respawned: number }> {
    other.send(formatRequest('GET', '/metrics'))
    const { body } = await other.reply()
    const read = (pattern: RegExp) => Number(pattern.exec(body)?.[1])
    return {
      values: read(/^http_request_duration_seconds_count\{method="GET",route="\/value",status="200"\} (\d+)$/m),
      // On a busy machine, a thread that does not answer in time is left out.
      threads: body.match(/^thread_event_loop_utilization/gm)?.length ?? 0,
      respawned: read(/^threads_respawned_total (\d+)$/m),
    }
  }
  for (let i = 0; i < 20; i++) {
    victim.send(formatRequest('GET', '/value'))
    await victim.reply()
  }
  const { values } = await waitUntil(async () => {
    const now = await countRequests()
    return now.threads === 2 && now
  })
  expect(values).toBeGreaterThanOrEqual(22)
  const file = createGate()
  victim.send(file.block)
  await victim.reply()
  await waitUntil(async () => (await countRequests()).threads === 1)
  expect((await countRequests()).values).toBe(values)
  file.open()
  await waitUntil(async () => (await countRequests()).threads === 2)
  victim.send(formatRequest('POST', '/die'))
  await waitUntil(async () => {
    const now = await countRequests()
    expect(now.values).toBe(values)
    return now.respawned === 1 && now.threads === 2
  })
})
