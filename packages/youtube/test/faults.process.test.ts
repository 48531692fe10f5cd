import { performance } from 'node:perf_hooks'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readError, FIXED_ID, startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})
afterAll(() => standIn.stop())
afterEach(() => standIn.control.clearFaults())

const getStatuses = async (count: number) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await standIn.get()).status)
  return seen
}

/** Resolves when the stand-in has received `count` calls. */
async function waitForCalls({ control }: StandIn, count: number): Promise<void> {
  while ((await control.getCounts()).calls < count);
}

describe('faults', () => {
  it('latency delays every reply', async () => {
    await standIn.control.setFaults({ latencyMs: 80 })
    const before = performance.now()
    expect((await standIn.get()).status).toBe(200)
    // Timers may fire a millisecond early.
    expect(performance.now() - before).toBeGreaterThan(78)
  })

  it('a share of calls fails, evenly spaced, with the given status and reason', async () => {
    await standIn.control.setFaults({ errorRate: 0.25 })
    expect(await getStatuses(8)).toEqual([200, 200, 200, 503, 200, 200, 200, 503])
    await standIn.control.setFaults({ errorRate: 1, errorStatus: 429 })
    expect(await readError(await standIn.get())).toMatchObject({ status: 429, code: 429, reason: 'rateLimitExceeded' })
    await standIn.control.setFaults({ errorRate: 1, errorStatus: 403, errorReason: 'quotaExceeded' })
    expect(await readError(await standIn.get())).toMatchObject({ status: 403, reason: 'quotaExceeded' })
    await standIn.control.setFaults({ errorRate: 0.5 })
    expect(await getStatuses(2)).toEqual([200, 503])
  })

  it('videos disappear, and return', async () => {
    const ids = async () => {
      const reply = await standIn.get({ id: `${FIXED_ID},abcdefghijk` })
      return ((await reply.json()) as any).items.map((item: { id: string }) => item.id)
    }
    expect(await ids()).toEqual([FIXED_ID, 'abcdefghijk'])
    await standIn.control.setFaults({ gone: [FIXED_ID] })
    expect(await ids()).toEqual(['abcdefghijk'])
    await standIn.control.setFaults({ gone: ['abcdefghijk'] })
    expect(await ids()).toEqual([FIXED_ID])
    await standIn.control.clearFaults()
    expect(await ids()).toEqual([FIXED_ID, 'abcdefghijk'])
  })

  it('quota runs out', async () => {
    await standIn.control.setFaults({ quotaLeft: 2 })
    expect(await getStatuses(4)).toEqual([200, 200, 403, 403])
    expect(await readError(await standIn.get())).toMatchObject({ reason: 'quotaExceeded', domain: 'youtube.quota' })
    await standIn.control.clearFaults()
    expect(await getStatuses(1)).toEqual([200])
  })

  it('a hung call gets no reply, and others on the same thread do', async () => {
    await standIn.control.resetCounts()
    await standIn.control.setFaults({ hang: true })
    const abort = new AbortController()
    const hung = fetch(standIn.buildVideosUrl(), { signal: abort.signal })
    await waitForCalls(standIn, 1)
    await standIn.control.clearFaults()
    expect(await getStatuses(1)).toEqual([200])
    abort.abort()
    await expect(hung).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('a connection is cut before the reply', async () => {
    await standIn.control.setFaults({ cut: 'before' })
    await expect(request(standIn.buildVideosUrl())).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  it('a connection is cut in the middle of the body', async () => {
    await standIn.control.setFaults({ cut: 'halfway' })
    const { statusCode, body } = await request(standIn.buildVideosUrl())
    expect(statusCode).toBe(200)
    const got: Buffer[] = []
    await expect(
      (async () => {
        for await (const chunk of body) got.push(chunk)
      })(),
    ).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
    expect(Buffer.concat(got).toString()).toContain('youtube#videoListResponse')
  })

  it('a malformed body is half of its JSON, with an otherwise valid reply', async () => {
    await standIn.control.setFaults({ malformed: true })
    const reply = await standIn.get()
    expect(reply.status).toBe(200)
    const text = await reply.text()
    expect(text).toContain('youtube#videoListResponse')
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    await standIn.control.setFaults({ malformed: true, quotaLeft: 0 })
    await expect((await standIn.get()).json()).rejects.toThrow(SyntaxError)
  })

  it('do not affect the control routes', async () => {
    await standIn.control.setFaults({ hang: true, quotaLeft: 0, errorRate: 1, latencyMs: 60_000 })
    expect(await standIn.control.getCounts()).toMatchObject({ calls: expect.any(Number) })
    expect((await fetch(`${standIn.url}/healthz`)).status).toBe(200)
  })
})

describe.each([0, 1])('stopping with %i threads', (threads) => {
  it.each([{ hang: true }, { latencyMs: 600_000 }, { hang: true, latencyMs: 600_000 }])(
    'does not wait for %j',
    async (faults) => {
      const other = await startStandIn({ threads })
      await other.control.setFaults(faults)
      const held = fetch(other.buildVideosUrl()).then(
        (reply) => reply.status,
        () => 'cut',
      )
      await waitForCalls(other, 1)
      // A request in flight after 10 s is cut, and the shutdown is then not clean.
      expect(await other.stop()).toBe(true)
      expect(await held).toBe(faults.hang ? 'cut' : 200)
    },
  )
})
