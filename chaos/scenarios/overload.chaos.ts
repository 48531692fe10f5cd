import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { availableParallelism, loadavg } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { load, type RepeatedRequest, type LoadOutcome } from '../src/load.ts'
import { isLong } from '../src/plan.ts'
import { run } from '../src/service-process.ts'

// Three times the capacity of a service: it refuses the requests that it cannot serve, and the others stay fast. The
// requests are expensive, so that one generator exceeds the capacity.

const WARM_UP = 1
const SECONDS = isLong ? 30 : 3
const TIMES = 3
/** The default (ms). */
const MAX_WAIT = 50
const ATTEMPTS = 3
/** The service recognises an overload by its duration, and completes earlier requests first: limits hold within (s). */
const SETTLE_S = isLong ? 60 : 25
/** Expensive requests that may wait before another request. */
const WAITING_REQUESTS = 128
/** Latency limit on an otherwise idle machine (ms). */
const UNNOTICED = 400
/** Without refusals, all requests wait for longer than this by then (ms). */
const UNBOUNDED = 5_000
const ID = '00000000-0000-4000-8000-000000000001'
const JSON_TYPE = { 'content-type': 'application/json' }
const LINES = { 'content-type': 'application/x-ndjson' }

interface OverloadCase {
  readonly service: string
  readonly settings?: Readonly<Record<string, string | number>>
  readonly ask: RepeatedRequest
  /** Creates the required data. */
  prepare?(url: string): Promise<unknown>
}

const videos = Array.from({ length: 1_000 }, (_, i) => `video${String(i).padStart(6, '0')}`)
const charValues = [{ char: 'Term', op: 'not', value: '12' }]
const search = JSON.stringify({
  id: 'a',
  offeringId: '00000000-0000-0000-0000-000000000000',
  groupId: 'g',
  priceSpecId: 's',
  charValues,
})

const cases: OverloadCase[] = [
  {
    service: 'stats',
    prepare: (url) =>
      fetch(`${url}/collections/${ID}`, { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify({ videos }) }),
    ask: { method: 'GET', path: () => `/collections/${ID}/stats?by=video` },
  },
  {
    service: 'kv',
    ask: {
      method: 'POST',
      path: () => '/v0/batch?durable=true',
      headers: LINES,
      body: Buffer.from(Array.from({ length: 1_000 }, (_, i) => `{"op":"put","id":"b${i}","value":"x"}\n`).join('')),
    },
  },
  {
    service: 'sse',
    settings: { history: 'level' },
    ask: {
      method: 'POST',
      path: (n) => `/put?topic=t${n % 100}`,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.alloc(65_536, 'x'),
    },
  },
  {
    service: 'prices',
    ask: {
      method: 'POST',
      path: () => '/v5/search/bitmap/bulk/prices',
      headers: LINES,
      body: Buffer.from(`${search}\n`.repeat(1_000)),
    },
  },
]

/** Ratio of running processes to processors (at least 1): a service gets less processor time and takes longer. */
const busyness = () => Math.max(1, loadavg()[0]! / availableParallelism())

/**
 * Maximum latency of accepted requests (ms): twice the usual. On a machine busy with other work: scaled by its load, or
 * the duration of a few requests at the remaining rate; but less than without refusals.
 */
function getMaxWait(usual: LoadOutcome, over: LoadOutcome): number {
  return Math.max(
    2 * usual.p99,
    Math.min(Math.max(UNNOTICED * busyness(), (WAITING_REQUESTS / over.perSecond) * 1_000), UNBOUNDED),
  )
}

it.each(cases)(
  '$service refuses what it cannot do, at $ask.method, and serves the rest as ever',
  async ({ service, settings, ask, prepare }) => {
    const standIn = service === 'stats' ? await run('youtube', createTemporaryFolder()) : undefined
    const uri = standIn && { youtubeUri: standIn.url }
    const running = await run(service, createTemporaryFolder(), {
      settings: { maxQueueDelay: MAX_WAIT, ...settings, ...uri },
    })
    onTestFinished(async () => {
      await running.stop()
      await standIn?.stop()
    })
    const { url } = running
    await prepare?.(url)
    // Code is slow until it is compiled.
    await load(url, ask, { seconds: WARM_UP })
    const closed = await load(url, ask, { seconds: SECONDS })
    const usual = await load(url, ask, { seconds: SECONDS, perSecond: closed.perSecond * 0.7 })
    let capacity = closed.perSecond
    let complaints: string[] = []
    function shouldStop(over: LoadOutcome): boolean {
      const summary = `${capacity.toFixed()}/s, p99 ${usual.p99.toFixed()} ms; at ${TIMES} times ${JSON.stringify(over)}`
      complaints = [
        ...(Object.keys(over.others).length > 0 ? ['some got neither what they asked for nor 503'] : []),
        ...(over.refused === 0 ? ['nobody was refused'] : []),
        ...(over.perSecond < capacity / 10 ? ['it does hardly any of what it can'] : []),
        ...(over.p99 > getMaxWait(usual, over) ? ['who was accepted waited too long'] : []),
      ].map((one) => `${one}: ${summary}`)
      return complaints.length === 0
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const over = await load(url, ask, { seconds: SETTLE_S * busyness(), perSecond: capacity * TIMES, shouldStop })
      if (complaints.length === 0 || over.perSecond < 1.5 * capacity) break
      // The capacity was underestimated, because the machine had other work.
      capacity = over.perSecond
    }
    expect(closed.refused, '16 clients that wait for their answers').toBe(0)
    expect(complaints).toEqual([])
  },
)
