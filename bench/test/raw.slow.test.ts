import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoadPlan } from '../src/load/load-plan.ts'
import { runRaw } from '../src/load/raw.ts'
import { get, createPlan } from './support/load-plan.ts'
import { getDeadUrl, startScriptedServer, type ScriptedServer } from './support/load-server.ts'

const CONNECTIONS = 2
// Repeats a measurement that a pause of the machine has spoilt.
describe.concurrent('the load generator', { retry: 3 }, () => {
  let server: ScriptedServer
  beforeAll(async () => {
    server = await startScriptedServer()
  })
  afterAll(() => server.kill())

  const run = (more: Partial<LoadPlan>) => runRaw(createPlan(server.url, more))
  const right = { errors: 0, wrong: 0 }

  it('counts the same requests as the server and reports its processor time', async () => {
    await using own = await startScriptedServer()
    const result = await runRaw(createPlan(own.url))
    const { '/a': counted } = await own.counts()
    expect(result).toMatchObject(right)
    expect(counted! - result.requests).toBeGreaterThanOrEqual(0)
    expect(counted! - result.requests).toBeLessThanOrEqual(2 * CONNECTIONS)
    expect(Math.abs(result.perSecond * result.seconds - result.requests)).toBeLessThanOrEqual(2 * CONNECTIONS)
    expect(result.cpu).toBeGreaterThan(0)
    expect(result.cpu).toBeLessThan(1.2)
    // Each reply takes 2 ms or more.
    expect(result.perSecond).toBeLessThan(CONNECTIONS * 500)
    expect(result.latency.p50).toBeGreaterThanOrEqual(2000)
    expect(Object.values(result.latency)).toEqual(Object.values(result.latency).sort((a, b) => a - b))
  })

  it('spreads its connections over all servers', async () => {
    await using first = await startScriptedServer()
    await using second = await startScriptedServer()
    const result = await runRaw(createPlan(first.url, { others: [second.url], connections: 4 }))
    const [one, other] = (await Promise.all([first.counts(), second.counts()])).map((counts) => counts['/a']!)
    expect(result).toMatchObject(right)
    expect(Math.min(one!, other!)).toBeGreaterThan(0)
    expect(one! + other! - result.requests).toBeLessThanOrEqual(4)
  })

  it('does not count the warm-up', async () => {
    await using own = await startScriptedServer()
    const result = await runRaw(createPlan(own.url, { warmUp: 1, duration: 1 }))
    const { '/a': counted } = await own.counts()
    expect(result).toMatchObject(right)
    expect(result.requests).toBeGreaterThan(0)
    expect(result.requests / counted!).toBeLessThan(0.8)
  })

  it('sends several requests in turn', async () => {
    await using own = await startScriptedServer()
    const requests = [get('/a'), get('/b'), get('/chunked')]
    const result = await runRaw(createPlan(own.url, { requests, expect: { status: 200, includes: 'value ' } }))
    expect(result).toMatchObject(right)
    const { '/a': a = 0, '/b': b = 0, '/chunked': c = 0 } = await own.counts()
    expect(Math.max(a, b, c) - Math.min(a, b, c)).toBeLessThanOrEqual(2 * CONNECTIONS)
  })

  it('sends a method, headers and a body', async () => {
    const body = '{"videos": ["-4lB5EKS5Uk", "\u00fc\\"]}'
    const headers = { 'content-type': 'application/json' }
    const requests = [{ method: 'PUT', path: '/echo', headers, body }]
    const result = await run({ requests, expect: { status: 201, body } })
    expect(result).toMatchObject(right)
    expect(result.requests).toBeGreaterThan(0)
    const two = await run({ requests: [...requests, ...requests], expect: { status: 201, body } })
    expect(two).toMatchObject(right)
  })

  it('reads chunked replies and replies without a body', async () => {
    expect(await run({ requests: [get('/chunked')] })).toMatchObject(right)
    const empty = await run({ requests: [get('/empty')], expect: { status: 204, body: '' } })
    expect(empty).toMatchObject(right)
    expect(empty.requests).toBeGreaterThan(0)
  })

  it('counts replies with another status as wrong', async () => {
    const result = await run({ requests: [get('/failing')] })
    expect(result).toMatchObject({ errors: 0, wrong: result.requests })
    expect(await run({ requests: [get('/failing')], expect: { status: 500 } })).toMatchObject(right)
  })

  it('counts replies with another body as wrong', async () => {
    const whole = await run({ expect: { status: 200, body: 'value b' } })
    expect(whole).toMatchObject({ errors: 0, wrong: whole.requests })
    const part = await run({ requests: [get('/chunked')], expect: { status: 200, includes: 'value b' } })
    expect(part).toMatchObject({ errors: 0, wrong: part.requests })
    expect(Math.min(whole.requests, part.requests)).toBeGreaterThan(0)
    const half = await run({ requests: [get('/a'), get('/b')] })
    expect(Math.abs(half.wrong - half.requests / 2)).toBeLessThanOrEqual(CONNECTIONS)
  })

  it('connects again after a reply that ends its connection', async () => {
    const result = await run({ requests: [get('/closing')] })
    expect(result.requests).toBeGreaterThan(0)
    expect(result.wrong).toBe(0)
    expect(result.errors).toBe(0)
  })

  it.each(['/cut', '/cut-at-once', '/malformed', '/hanging'])('counts replies that are %s as errors', async (path) => {
    expect((await run({ requests: [get(path)] })).errors).toBeGreaterThan(0)
  })

  it('counts refused connections as errors', async () => {
    const result = await runRaw(createPlan(await getDeadUrl()))
    expect(result.requests).toBe(0)
    expect(result.errors).toBeGreaterThan(0)
  })

  it('survives the end of its server', async () => {
    const own = await startScriptedServer()
    const running = runRaw(createPlan(own.url, { duration: 2 }))
    while (!((await own.counts())['/a']! > 50)) await delay(20)
    await own.kill()
    const result = await running
    expect(result.requests).toBeGreaterThan(0)
    expect(result.errors).toBeGreaterThan(0)
  })

  it('has an open loop', async () => {
    expect(await run({ rate: 100 })).toMatchObject({ ...right, requests: 100 })
  })

  it('draws requests and checks each reply', async () => {
    await using own = await startScriptedServer()
    const draw = (drawer: string, status: number) =>
      runRaw(createPlan(own.url, { requests: { drawer }, expect: { status } }))
    const read = await draw('kv-get-1000', 200)
    expect(read).toMatchObject(right)
    const sent = Object.keys(await own.counts()).length
    expect(sent).toBeGreaterThan(read.requests / 2)
    expect(await draw('kv-put', 201)).toMatchObject(right)
    expect(await draw('kv-put-durable', 201)).toMatchObject(right)
    const outsideBase = await draw('kv-get', 200)
    expect(outsideBase.wrong).toBeGreaterThan(outsideBase.requests * 0.9)
    await expect(draw('nobody', 200)).rejects.toBeInstanceOf(Error)
  })

  it('sends pipelines and checks each reply', async () => {
    await using own = await startScriptedServer()
    const pipe = (paths: readonly string[], more: Partial<LoadPlan> = {}) =>
      runRaw(createPlan(own.url, { requests: paths.map(get), pipeline: 3, ...more }))
    const result = await pipe(['/a', '/b', '/chunked', '/a'], { expect: { status: 200, includes: 'value ' } })
    const { '/a': a, '/b': b, '/chunked': c } = await own.counts()
    expect(result).toMatchObject({ ...right, requests: a! + b! + c! })
    // Without pipelining a connection sends 2 a second.
    const { perSecond } = await pipe(['/slower'], { duration: 2 })
    expect(perSecond).toBeGreaterThan(CONNECTIONS * 2.5)
    const mixed = await pipe(['/a', '/a', '/b'])
    expect(mixed).toMatchObject({ errors: 0, wrong: mixed.requests / 3 })
    const drawn = { requests: { drawer: 'kv-get-1000' }, pipeline: 16 }
    expect(await runRaw(createPlan(own.url, { ...drawn, expect: { status: 200 } }))).toMatchObject(right)
    // Requests after a reply that ends the connection get no reply.
    const lost = async (ending: string) => {
      const { requests, errors, wrong } = await pipe(['/a', ending, '/a'])
      return { wrong, share: Math.round((3 * errors) / (requests + errors)) }
    }
    const ends = await Promise.all(['/closing', '/cut', '/malformed', '/hanging'].map(lost))
    expect(ends).toEqual([1, 2, 2, 2].map((share) => ({ wrong: 0, share })))
    await expect(pipe(['/a'], { rate: 10 })).rejects.toBeInstanceOf(Error)
  })

  it('sends HEAD', async () => {
    expect(await run({ requests: [{ method: 'HEAD', path: '/a' }], expect: { status: 200 } })).toMatchObject(right)
  })
})
