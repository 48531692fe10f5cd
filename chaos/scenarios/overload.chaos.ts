import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { availableParallelism, loadavg } from 'node:os'
import { expect, it, onTestFinished } from 'vitest'
import { load, type Ask, type Outcome } from '../src/load.ts'
import { isLong } from '../src/plan.ts'
import { run } from '../src/running.ts'

// Three times what a service can do: it says so to whom it cannot serve, and the others do not notice. The requests are
// dear ones, so that one generator brings more than a service can do.

const WARM_UP = 1
const SECONDS = isLong ? 30 : 3
const TIMES = 3
/** An overload is told from a moment's crowd by how long it lasts; what was taken before that has to go first (s). */
const SETTLES = 3
const ATTEMPTS = 3
/** Requests that dear ones wait for, about. */
const FEW = 128
/** What is not noticed on a machine that does nothing else (ms). */
const UNNOTICED = 400
/** Where nobody is refused each waits for twice as long as it has lasted by then: the first that counts for that (ms). */
const UNBOUNDED = 2 * SETTLES * 1_000
const ID = '00000000-0000-4000-8000-000000000001'
const JSON_TYPE = { 'content-type': 'application/json' }
const LINES = { 'content-type': 'application/x-ndjson' }

interface Case {
  readonly service: string
  readonly settings?: Readonly<Record<string, string | number>>
  readonly ask: Ask
  /** What has to be there first. */
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

const cases: Case[] = [
  {
    service: 'stats',
    prepare: (url) =>
      fetch(`${url}/collections/${ID}`, { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify({ videos }) }),
    ask: { method: 'GET', path: () => `/collections/${ID}/stats?by=video` },
  },
  {
    service: 'kv',
    ask: {
      method: 'PUT',
      path: (n) => `/v0/entity?id=k${n % 1_000}&durable=true`,
      headers: { 'content-type': 'application/octet-stream' },
      body: Buffer.alloc(65_536, 'x'),
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

/**
 * What requests may wait for that are taken (ms): twice as long as ever; on a machine that is busy with others as long as
 * few of them take at the pace that there is, or as so busy a machine may, but far less than where nobody is refused.
 */
function mostWait(usual: Outcome, over: Outcome): number {
  const busy = UNNOTICED * Math.max(1, loadavg()[0]! / availableParallelism())
  return Math.max(2 * usual.p99, Math.min(Math.max(busy, (FEW / over.perSecond) * 1_000), UNBOUNDED))
}

/** What a service gives when it is asked for three times what it can do: what that is changes with what else runs here. */
async function overload(url: string, ask: Ask, measured: number): Promise<{ capacity: number; over: Outcome }> {
  for (let capacity = measured, attempt = 1; ; attempt++) {
    const over = await load(url, ask, SECONDS, capacity * TIMES, SETTLES)
    if (attempt === ATTEMPTS || over.refused > 0 || over.perSecond < capacity * 1.5) return { capacity, over }
    capacity = over.perSecond
  }
}

it.each(cases)(
  '$service refuses what it cannot do, at $ask.method, and serves the rest as ever',
  async ({ service, settings, ask, prepare }) => {
    const standIn = service === 'stats' ? await run('youtube', temporaryFolder()) : undefined
    const uri = standIn && { youtubeUri: standIn.url }
    const running = await run(service, temporaryFolder(), {
      settings: { ...settings, ...uri, ...(process.env.MAX_WAIT && { maxWait: process.env.MAX_WAIT }) },
    })
    onTestFinished(async () => {
      await running.stop()
      await standIn?.stop()
    })
    const { url } = running
    await prepare?.(url)
    // Code that is not compiled yet is slow.
    await load(url, ask, WARM_UP)
    const closed = await load(url, ask, SECONDS)
    const usual = await load(url, ask, SECONDS, closed.perSecond * 0.7)
    const { capacity, over } = await overload(url, ask, closed.perSecond)
    const told = `capacity ${capacity.toFixed()}/s, p99 ${usual.p99.toFixed()} ms; at ${TIMES} times ${JSON.stringify(over)}`
    const complaints = [
      ...(Object.keys(over.others).length > 0 ? ['some got neither what they asked for nor 503 with Retry-After'] : []),
      ...(closed.refused > 0 ? ['16 clients were refused some'] : []),
      ...(over.refused === 0 ? ['nobody was refused'] : []),
      ...(over.perSecond < capacity / 10 ? ['it does hardly any of what it can'] : []),
      ...(over.p99 > mostWait(usual, over) ? ['who was accepted waited too long'] : []),
    ]
    if (process.env.CHAOS_SAY) console.log(told, mostWait(usual, over).toFixed())
    expect(complaints.map((one) => `${one}: ${told}`)).toEqual([])
  },
)
