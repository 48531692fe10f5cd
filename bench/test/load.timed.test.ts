import { startSlownessMeter } from '@influencer-stats/runtime/testing/process-clock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { generators } from '../src/load/generators.ts'
import type { LoadPlan } from '../src/load/load-plan.ts'
import { runIdle } from '../src/load/idle-connections.ts'
import { runRaw } from '../src/load/raw.ts'
import { runScan } from '../src/load/range-scan.ts'
import { startScriptedServer, type ScriptedServer } from './support/load-server.ts'
import { get, createPlan } from './support/load-plan.ts'

// Repeats a measurement that a pause of the machine has spoilt.
const RETRY_OPTIONS = { retry: 3 }

let server: ScriptedServer
beforeAll(async () => {
  server = await startScriptedServer()
})
afterAll(() => server.kill())

let getSlowness: () => number
beforeEach(() => {
  getSlowness = startSlownessMeter()
})

/** Expects a time to be right, allowing for a busy machine. */
function expectNear(microseconds: number, milliseconds: number): void {
  expect(microseconds / 1000).toBeGreaterThan(milliseconds * 0.95)
  expect(microseconds / 1000).toBeLessThan(milliseconds * 1.4 * getSlowness())
}

describe('a scan', () => {
  const scan = (path: string) => runScan({ url: server.url, path, headers: {}, pid: process.pid })

  it('counts the bytes of the body and measures the memory of the server', async () => {
    const { before, peak, ...result } = await scan('/chunked')
    expect(result).toMatchObject({ status: 200, bytes: 'value a'.length })
    expect(result.seconds).toBeGreaterThan(0.002)
    expect(peak.all).toBeGreaterThanOrEqual(before.all)
    expect(before.all).toBeGreaterThan(before.files)
    expect(peak.all).toBeGreaterThan(peak.files)
  })

  it.each(['/cut', '/cut-at-once', '/malformed'])('fails where the reply is %s', async (path) => {
    await expect(scan(path)).rejects.toBeInstanceOf(Error)
  })
})

describe('idle connections', () => {
  const idle = (path: string) => {
    const plan = { url: server.url, path, expect: { status: 200, body: 'value a' }, connections: 300 }
    return runIdle({ ...plan, pid: process.pid })
  }

  it('receive a reply each and stay open', async () => {
    const { '/a': earlier = 0 } = await server.counts()
    const { before, after, ...faults } = await idle('/a')
    expect(faults).toEqual({ wrong: 0, cut: 0 })
    expect(Math.min(before, after)).toBeGreaterThan(10)
    expect((await server.counts())['/a']).toBe(earlier + 300)
  })

  it.each(['/closing', '/cut', '/cut-at-once', '/malformed'])('do not stay open with %s', async (path) => {
    expect(await idle(path)).toMatchObject({ wrong: 0, cut: 300 })
  })

  it('report wrong replies', async () => {
    expect(await idle('/b')).toMatchObject({ wrong: 300, cut: 0 })
  })
})

describe.each(Object.entries(generators))('a closed loop of %s', (_, run) => {
  it('counts replies and wrong replies', async () => {
    const right = await run(createPlan(server.url, { expect: { status: 200, includes: 'value ' } }))
    expect(right).toMatchObject({ errors: 0, wrong: 0 })
    expect(right.requests).toBeGreaterThan(0)
    expect(right.cpu).toBeGreaterThan(0)
    for (const expect_ of [{ status: 201 }, { status: 200, body: 'another' }]) {
      const wrong = await run(createPlan(server.url, { expect: expect_ }))
      expect(wrong.wrong).toBe(wrong.requests)
    }
  })

  it('counts requests without a reply', async () => {
    expect((await run(createPlan(server.url, { requests: [get('/cut')] }))).errors).toBeGreaterThan(0)
  })

  it('measures half a second for replies that take half a second', RETRY_OPTIONS, async () => {
    const result = await run(createPlan(server.url, { requests: [get('/slower')], duration: 2 }))
    expect(result).toMatchObject({ errors: 0, wrong: 0 })
    expectNear(result.latency.p50, 500)
  })
})

it('autocannon rejects unsupported plans', async () => {
  for (const more of [
    { rate: 10 },
    { pipeline: 2 },
    { percentiles: [95] },
    { requests: [{ method: 'HEAD', path: '/' }] },
  ])
    await expect(generators.autocannon(createPlan('http://127.0.0.1:1', more))).rejects.toThrow('autocannon supports')
})

describe('a server whose replies take half a second', () => {
  const slow = { requests: [get('/slower')], duration: 2 }

  it('is measured correctly by an open loop at the requested rate', RETRY_OPTIONS, async () => {
    const result = await runRaw(createPlan(server.url, { ...slow, rate: 100, connections: 96, warmUp: 0.5 }))
    expect(result).toMatchObject({ errors: 0, wrong: 0, requests: 200 })
    expectNear(result.latency.p50, 500)
    expect(result.perSecond).toBeLessThan(110)
    expect(result.perSecond).toBeGreaterThan(90 / getSlowness())
    expect(result.lateness!).toBeLessThan(500_000 * getSlowness())
  })

  it('is measured correctly by a generator that sleeps until a request is due', RETRY_OPTIONS, async () => {
    const plan = { ...slow, rate: 800, connections: 640, shares: 'first' } as const
    const result = await runRaw(createPlan(server.url, { ...plan, duration: 1 }))
    expect(result).toMatchObject({ errors: 0, wrong: 0, requests: 800 })
    expectNear(result.latency.p50, 500)
    expect(result.cpu).toBeLessThan(0.7)
  })

  it('shows its backlog above its capacity', RETRY_OPTIONS, async () => {
    // 4 connections carry 80 requests a second; of 200 in one second 120 wait, the last ones 1.5 s.
    const plan = { requests: [get('/slow')], rate: 200, connections: 4, duration: 1 }
    const result = await runRaw(createPlan(server.url, plan))
    expect(result).toMatchObject({ errors: 0, requests: 200 })
    expect(result.perSecond).toBeLessThan(90)
    expect(result.latency.max).toBeGreaterThan(1_200_000)
  })
})

it('a due request without an answer counts as an error with its wait', async () => {
  const result = await runRaw(createPlan(server.url, { requests: [get('/hanging')], rate: 100, duration: 0.5 }))
  expect(result).toMatchObject({ errors: 50, requests: 0 })
  expect(result.latency.p50).toBeGreaterThan(1_000_000)
})

it('a server that stops shows in an open loop and hides from a closed one', RETRY_OPTIONS, async () => {
  await using stalling = await startScriptedServer('stalling')
  /** Two whole cycles of 5 s, in each of which the server stops for one second. */
  const run = (more: Partial<LoadPlan> = {}) => runRaw(createPlan(stalling.url, { duration: 10, ...more }))
  // Runs both at once: the server is idle except for its pauses.
  const [open, closed] = await Promise.all([run({ rate: 200, connections: 32 }), run()])

  for (const { errors, wrong } of [open, closed]) expect({ errors, wrong }).toEqual({ errors: 0, wrong: 0 })
  expect(open.perSecond).toBeLessThan(240)
  expect(open.perSecond).toBeGreaterThan(160 / getSlowness())
  // A fifth of the requests waits between 0 and 1 s, evenly: one in ten over 500 ms, one in a hundred over 950.
  expectNear(open.latency.p90, 500)
  expectNear(open.latency.p99, 950)
  expect(closed.latency.max).toBeGreaterThan(950_000)
  // Two connections lose four requests of thousands: this is why latency needs an open loop.
  expect(closed.latency.p99).toBeLessThan(Math.min(400_000 * getSlowness(), 900_000))
})
