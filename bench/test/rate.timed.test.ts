import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseBenchArguments } from '../src/arguments.ts'
import { stopBackgroundProcesses } from '../src/targets/background-processes.ts'
import { createKvTarget } from '../src/targets/kv.ts'
import type { TargetProcess } from '../src/targets/target.ts'
import { LoadTally } from '../src/load/common/tally.ts'
import type { RawConnection } from '../src/load/raw/raw-connection.ts'
import { OpenLoop } from '../src/load/raw/loops.ts'
import type { ReadyRequest } from '../src/load/requests/request-bytes.ts'
import { drawRequests } from '../src/load/requests/drawers.ts'
import { FULL_BASE_ENTRIES } from '../src/load/requests/kv-entries.ts'
import { findLimit, buildRateReport, type RateResult } from '../src/rate/rate-report.ts'
import { runAtRate } from '../src/rate/run-at-rate.ts'
import { createSpec } from '../src/spec.ts'

const parse = (...argv: string[]) => parseBenchArguments(argv).atRate

describe('arguments of a run at a constant rate', () => {
  it('have defaults: a PUT on an empty base over 1 connection for 10 s', () => {
    const usual = { op: 'put', base: 0, connections: 1, seconds: 10, url: undefined }
    expect(parse('kv', '--rate', '6000')).toEqual({ spec: createSpec('kv'), rate: 6_000, ...usual })
    expect(parse('kv')).toBeUndefined()
  })

  it.each([
    ['get', FULL_BASE_ENTRIES],
    ['delete', FULL_BASE_ENTRIES],
    ['put', 0],
    ['durable-put', 0],
  ])('%s has a base of %d entries, unless one is named', (op, entries) => {
    expect(parse('kv', '--rate', '1', '--op', op)).toMatchObject({ op, base: entries })
    expect(parse('kv', '--rate', '1', '--op', op, '--base', '1234')).toMatchObject({ base: 1_234 })
    expect(parse('kv', '--rate', '1', '--op', op, '--base', 'full')).toMatchObject({ base: FULL_BASE_ENTRIES })
  })

  it('name variant, threads, connections, seconds and a running service', () => {
    const spec = createSpec('kv', 'v4', { threads: '2' })
    expect(parse('kv', '--rate', '0.5', '--variant', 'v4', '--threads', '2')).toMatchObject({ rate: 0.5, spec })
    expect(parse('kv/v4,threads=2', '--rate', '1')).toMatchObject({ spec })
    expect(parse('kv', '--rate', '1', '--connections', '64', '--seconds', '3')).toMatchObject({
      connections: 64,
      seconds: 3,
    })
    expect(parse('kv', '--rate', '1', '--url', 'http://127.0.0.1:8082/')).toMatchObject({
      url: 'http://127.0.0.1:8082',
    })
  })

  it('name a workload of another service', () => {
    expect(parse('stats/v8', '--rate', '5', '--op', 'many')).toMatchObject({ op: 'many', base: undefined })
    expect(parse('prices', '--rate', '5')).toMatchObject({ op: undefined })
  })

  it.each([
    'kv --rate 0',
    'kv --rate x',
    '--rate 6000',
    'kv stats --rate 6000',
    'compare kv kv --rate 6000',
    'kv --rate 6000 --publish',
    'kv --rate 6000 --table server-adapters',
    'kv --rate 6000 --op scan',
    'kv/v4/get-full --rate 6000',
    'kv/v4 --variant v5 --rate 6000',
    'kv --rate 6000 --base huge',
    'kv --rate 6000 --base 1.5',
    'kv --rate 6000 --op get --base empty',
    'kv --rate 6000 --connections 1.5',
    'kv --rate 6000 --threads 0',
    'kv --rate 6000 --seconds 0',
    'kv --rate 6000 --url nowhere',
    'kv --rate 6000 --url https://127.0.0.1',
    'kv --rate 6000 --url http://127.0.0.1 --variant v4',
    'kv --rate 6000 --url http://127.0.0.1 --threads 2',
    'kv --rate 6000 --url http://127.0.0.1 --op get',
    'stats --rate 6000 --base full',
    'stats --rate 6000 --op none-such',
    'kv --op put',
    'kv --seconds 3',
    'kv --url http://127.0.0.1',
  ])('refuse %s', (line) => {
    expect(() => parse(...line.split(' '))).toThrow()
  })
})

describe('the report of a run at a constant rate', () => {
  const plan = { name: 'kv: put', rate: 6_000, connections: 1, seconds: 10 }
  const latency = { p50: 100, p75: 120, p90: 300, p99: 4_000, p999: 9_000, max: 21_500 }
  const reached: RateResult = {
    requests: 60_000,
    seconds: 10,
    perSecond: 6_000,
    latency,
    percentiles: { 99.99: 20_000 },
    errors: 0,
    wrong: 0,
    cpu: 0.99,
    lateness: 150,
    idle: 0.8,
    share: 0.42,
  }

  it('has the percentiles of wrk2 in ms, the achieved rate, errors, lateness and the CPU of the server', () => {
    const lines = buildRateReport(plan, reached).join('\n')
    for (const [percentile, time] of Object.entries({
      '50%': '0.10',
      '75%': '0.12',
      '90%': '0.30',
      '99%': '4.00',
      '99.9%': '9.00',
      '99.99%': '20.00',
      max: '21.50',
    })) {
      expect(lines).toMatch(new RegExp(`^ +${percentile.replaceAll('.', '\\.')} +${time.replaceAll('.', '\\.')}$`, 'm'))
    }
    expect(lines).toMatch(/\b6,000\/s\b[^]*\b42 %/)
    expect(lines).toMatch(/\b0\.15 ms\b/)
  })

  it.each([
    ['none', {}],
    ['none', { perSecond: 5_900 }],
    ['service', { perSecond: 5_000, latency: { ...latency, p99: 900_000 } }],
    ['generator', { perSecond: 5_000, latency: { ...latency, p99: 900_000 }, lateness: 880_000 }],
    ['generator', { perSecond: 5_000, latency: { ...latency, p99: 900_000 }, idle: 0.05 }],
    ['none', { idle: 0.05 }],
    // The rate is reached, but its latencies are those of the generator.
    ['generator', { lateness: 2_000 }],
  ] as const)('names the limit: %s', (limit, more) => {
    const result = { ...reached, ...more }
    expect(findLimit(plan, result)).toBe(limit)
    const texts = [reached, result].map((one) => buildRateReport(plan, one).at(-1))
    expect(texts[0] === texts[1]).toBe(limit === 'none' && !('perSecond' in more))
  })

  it('accepts as many missing replies as requests may be under way at the end of a short run', () => {
    const short = { ...plan, rate: 10, seconds: 1 }
    expect(findLimit(short, { ...reached, perSecond: 9 })).toBe('none')
    expect(findLimit(short, { ...reached, perSecond: 8 })).toBe('service')
  })

  it('has no number for the CPU of a server that reports none', () => {
    expect(buildRateReport(plan, { ...reached, share: NaN }).join('\n')).not.toContain('NaN')
  })
})

describe('the idle time of a generator', () => {
  /** Idle share of an open loop in 300 ms, if each request takes it 1 ms. */
  async function measureIdleShare(rate: number, cpu = 1): Promise<number> {
    const loop = new OpenLoop(() => ({}) as ReadyRequest, rate)
    const send = (_: unknown, begin: number) => {
      for (const end = performance.now() + 1; performance.now() < end;);
      loop.onReply(begin, performance.now(), true)
      queueMicrotask(() => loop.onIdle(connection))
    }
    const connection = { idle: true, queued: false, send } as unknown as RawConnection
    const now = performance.now()
    loop.onIdle(connection)
    loop.start([connection], new LoadTally(now, now + 300), now)
    while (loop.countOutstanding() > 0) await setImmediate()
    return loop.getIdleShare(cpu)!
  }

  it('is zero if it cannot reach the rate, and over half of the time if it can', async () => {
    expect(await measureIdleShare(3_000)).toBeLessThan(0.1)
    expect(await measureIdleShare(10)).toBeGreaterThan(0.2)
    // At this rate it never sleeps: without the processor it had no idle time.
    expect(await measureIdleShare(600, 0)).toBe(0)
  })
})

it('deletes use random entries of a base', () => {
  const next = drawRequests({ drawer: 'kv-delete-1234', seed: 1 }, 'host')
  for (let i = 0; i < 100; i++) {
    const [, id] = /^DELETE \/v0\/entity\?id=(\d+) HTTP\/1\.1\r\nHost: host\r\n\r\n$/.exec(String(next().bytes))!
    expect(Number(id)).toBeLessThan(1_234)
  }
})

describe('a run at a constant rate', () => {
  /** Runs the command with these arguments. */
  async function runLines(...argv: string[]) {
    const lines: string[] = []
    const isRight = await runAtRate(parse(...argv, '--rate', '100', '--seconds', '0.5')!, (line) => lines.push(line))
    return { isRight, text: lines.join('\n') }
  }
  const ALL_RIGHT = /^requests +50 due: 50 answered, 0 not within 3 s of the end; 0 wrong$/m

  const running = Promise.withResolvers<TargetProcess>()
  beforeAll(async () => running.resolve(await createKvTarget(createSpec('kv'), 0).start()))
  afterAll(async () => (await running.promise).stop())

  it('starts a service, loads it and stops it', async () => {
    expect((await runLines('kv', '--variant', 'v4')).text).toMatch(ALL_RIGHT)
  })

  it.each(['put', 'durable-put', 'get', 'delete'])('loads a running service: %s', async (op) => {
    const { url } = await running.promise
    const { text } = await runLines('kv', '--op', op, '--base', '100', '--url', url)
    expect(text).toMatch(ALL_RIGHT)
    expect(text).toMatch(/^server +\d+ % of a processor$/m)
  })

  it('needs a workload of requests', async () => {
    await expect(runAtRate(parse('sse', '--rate', '1')!, () => {})).rejects.toThrow()
  })

  it('fails if replies are wrong', async () => {
    const server = createServer((_, reply) => reply.writeHead(500).end()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { isRight, text } = await runLines('kv', '--url', url)
    expect(isRight).toBe(false)
    expect(text).toMatch(/^requests +50 due: 50 answered, 0 not within 3 s of the end; 50 wrong$/m)
    expect(text).toMatch(/^server +CPU unknown/m)
  })

  it('loads another service with one of its workloads', async () => {
    // The stand-in, which stats calls.
    onTestFinished(stopBackgroundProcesses)
    expect((await runLines('stats', '--op', 'empty')).text).toMatch(ALL_RIGHT)
  })
})
