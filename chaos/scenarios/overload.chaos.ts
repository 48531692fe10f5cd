import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { expect, it, onTestFinished } from 'vitest'
import { load, type Ask } from '../src/load.ts'
import { isLong } from '../src/plan.ts'
import { run } from '../src/running.ts'

// Three times what a service can do: it says so to whom it cannot serve, and the others do not notice. The requests are
// dear ones, so that one generator brings more than a service can do.

const SECONDS = isLong ? 30 : 4
const TIMES = 3
/** A p99 below is not told from another by a busy machine (ms). */
const UNNOTICED = 100
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
      body: 'x'.repeat(65_536),
    },
  },
  {
    service: 'sse',
    settings: { history: 'level' },
    ask: {
      method: 'POST',
      path: (n) => `/put?topic=t${n % 100}`,
      headers: { 'content-type': 'text/plain' },
      body: 'x'.repeat(65_536),
    },
  },
  {
    service: 'prices',
    ask: {
      method: 'POST',
      path: () => '/v5/search/bitmap/bulk/prices',
      headers: LINES,
      body: `${search}\n`.repeat(1_000),
    },
  },
]

it.each(cases)(
  '$service refuses what it cannot do, at $ask.method, and serves the rest as ever',
  async ({ service, settings, ask, prepare }) => {
    const standIn = service === 'stats' ? await run('youtube', temporaryFolder()) : undefined
    const uri = standIn && { youtubeUri: standIn.url }
    const running = await run(service, temporaryFolder(), { settings: { ...settings, ...uri } })
    onTestFinished(async () => {
      await running.stop()
      await standIn?.stop()
    })
    await prepare?.(running.url)
    const capacity = (await load(running.url, ask, SECONDS)).perSecond
    const usual = await load(running.url, ask, SECONDS, capacity * 0.7)
    const over = await load(running.url, ask, SECONDS, capacity * TIMES)
    const told = `capacity ${capacity.toFixed()}/s, p99 ${usual.p99.toFixed()} ms; at ${TIMES} times ${JSON.stringify(over)}`
    const complaints = [
      ...(Object.keys(over.others).length > 0 ? ['some got neither what they asked for nor 503 with Retry-After'] : []),
      ...(over.refused === 0 ? ['nobody was refused'] : []),
      ...(over.perSecond < capacity / 2 ? ['it does less than half of what it can'] : []),
      ...(over.p99 > Math.max(2 * usual.p99, UNNOTICED) ? ['who was accepted waited more than twice as long'] : []),
    ]
    expect(complaints.map((one) => `${one}: ${told}`)).toEqual([])
  },
)
