import { variants } from '@influencer-stats/stats/variants'
import { bareContender } from '../contenders/bare.ts'
import type { Contender, Running } from '../contenders/contender.ts'
import { nginxContender } from '../contenders/nginx.ts'
import { serviceContender, standInBeside, standInContender } from '../contenders/service.ts'
import type { LoadRequest } from '../load/load.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { whole } from '../report/numbers.ts'
import { asked, asking, REQUESTS, type Requests } from '../rounds/requests.ts'
import type { Figures, Row } from '../row.ts'
import { labelOf, specOf, type Spec } from '../spec.ts'
import { RAW } from './doors.ts'
import type { OwnTable, Work } from './table.ts'

export const COLLECTION = '99757a95-f758-499f-a170-bea93b2d8bcf'
const VIDEOS = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo']
const ANSWER = '"impressions":785202,"engagements":46848,"score":89559,"videos":3,"missing":[]'

// The same reply as the service's, header by header: what is compared is what it costs to come by it.
export const CONSTANT = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    etag: '"hLrDsjqOGfxqQl3najJINaZwZEA"',
    age: '0',
    'cache-control': 'no-cache',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '162',
  },
  body: `{${ANSWER},"asOf":"2026-11-20T12:00:00.000Z","stale":false,"source":"http://127.0.0.1:34567"}`,
}

const ofSource = (perSecond: number, p50: number, p75: number, p90: number, p99: number, max: number): Figures => {
  return { perSecond, p50, p75, p90, p99, max }
}

/** The five versions that v1 to v5 mirror, on their author's machine: requests/s, and latencies of a closed loop (us). */
const SOURCE: Readonly<Record<string, Figures>> = {
  v1: ofSource(283, 56_030, 61_610, 66_890, 82_410, 128_510),
  v2: ofSource(2_986, 4_670, 5_470, 9_610, 62_530, 151_460),
  v3: ofSource(3_218, 4_550, 6_220, 8_250, 13_050, 26_400),
  v4: ofSource(31_082, 346, 439, 1_740, 62_860, 144_630),
  v5: ofSource(38_596, 314, 396, 485, 9_050, 17_530),
}

export const statsPath = (id: string) => `/collections/${id}/stats`
export const SAMPLE_PATH = statsPath(COLLECTION)

/** The service, asking a stand-in for YouTube that runs beside. */
export const statsContender = (spec: Spec): Contender =>
  serviceContender(spec, {}, { more: async () => ({ youtubeUri: await standInBeside() }) })

async function put(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`PUT was answered ${reply.status}`)
}

export const makeCollection = ({ url }: Running, id: string, videos: readonly string[]): Promise<void> =>
  put(`${url}/collections/${id}`, { videos })

export const gets = (path: string, includes: string, connections: number, says: string): Requests => ({
  says: `${connections} connections that ${says}`,
  requests: [{ method: 'GET', path }],
  expect: { status: 200, includes },
  connections,
})

export const sample = (connections = 16): Requests =>
  gets(SAMPLE_PATH, ANSWER, connections, 'read one collection of three videos')

/** Reads of one collection of three videos. */
export const read: Work = (spec) => ({
  name: labelOf(spec),
  contender: statsContender(spec),
  ...asked(sample(), (running) => makeCollection(running, COLLECTION, VIDEOS)),
  ...(Object.keys(spec.settings).length === 0 && { source: SOURCE[spec.variant] }),
})

/** A server that gives the same reply to everything, and is asked what the service is. */
export const constant = (contender: Contender, requests = sample(), name = contender.name): Row => {
  return { name, contender, ...asked(sample()), ...asking(requests) }
}

/** Of a thousand collections none shares a video; more of them have those of others. */
const DISTINCT = 1_000
const collection = (i: number) => ({
  id: `c${i}`,
  videos: [0, 1, 2].map((j) => `${String((i % DISTINCT) * 3 + j).padStart(10, '0')}A`),
})
const THREE = '"videos":3,"missing":[]'
const AT_ONCE = 64

/** Reads of so many collections in turn. */
export const readsOf = (count: number): Requests => ({
  says: `${count} connections that read ${count} collections in turn`,
  requests: Array.from({ length: count }, (_, i): LoadRequest => ({ method: 'GET', path: statsPath(`c${i}`) })),
  expect: { status: 200, includes: THREE },
  connections: count,
})

/** Makes so many, several at once. */
export async function makeMany(running: Running, count: number): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, i) => collection(made + i))
    await Promise.all(some.map(({ id, videos }) => makeCollection(running, id, videos)))
  }
}

const many: Work = (spec) => ({
  name: `${labelOf(spec)}, 64 collections`,
  contender: statsContender(spec),
  ...asked(readsOf(64), (running) => makeMany(running, 64)),
})

const empty: Work = (spec) => ({
  name: `${labelOf(spec)}, empty collection`,
  contender: statsContender(spec),
  ...asked(gets(statsPath('empty'), '"impressions":0', 1, 'read an empty collection'), (running) =>
    makeCollection(running, 'empty', []),
  ),
})

/** What any variant can be measured at; the first is what is meant where none is named. */
export const works = { read, many, empty } satisfies Record<string, Work>

const VIDEO_PATH = '/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&id=-4lB5EKS5Uk&key=stand-in'

const standIn = (connections: number, perSecond?: number): Row => ({
  name: 'the stand-in',
  contender: standInContender(),
  ...asked(gets(VIDEO_PATH, '"261734"', connections, 'read one video of the stand-in')),
  ...(perSecond && { source: ofSource(perSecond, 11_720, 11_980, 12_360, 23_590, 44_670) }),
})

const stats = (variant: string, settings: Spec['settings'] = {}) => specOf('stats', variant, settings)
const LADDER = Object.keys(variants)

/** With the latencies that the source tells, which are of a closed loop. */
const WITH_SOURCE: Columns = {
  ...REQUESTS,
  ...Object.fromEntries(
    ['p50', 'p75', 'p90', 'p99', 'max'].map((name) => [
      `source: ${name}`,
      { head: `source: ${name} us`, format: whole },
    ]),
  ),
}

const ladder: OwnTable = {
  name: 'read',
  title:
    "Reads of one collection of three videos, 16 connections, one serving thread; the source's latencies are of a closed loop",
  when: 'always',
  columns: WITH_SOURCE,
  together: true,
  steps: [
    ...LADDER.slice(1).map((variant, i) => [variant, LADDER[i]!] as const),
    [RAW.stats, 'v4'],
    [RAW.stats, 'bare node:http'],
    [RAW.stats, 'nginx static file'],
  ],
  rows: (specs) => [
    ...(specs.length > 0 ? specs : LADDER.map((variant) => stats(variant))).map(read),
    constant(bareContender(CONSTANT)),
    constant(nginxContender(CONSTANT.body)),
    standIn(16),
  ],
}

const sourceRows: OwnTable = {
  name: 'source',
  title: "The source's other rows: an empty collection at 1 connection, the stand-in at 256",
  columns: WITH_SOURCE,
  rows: () => [{ ...empty(stats('v1')), source: ofSource(5_804, 155, 164, 196, 21_810, 47_600) }, standIn(256, 21_635)],
}

/** A stand-in that takes 120 ms, and a service that asks it. */
const far: Contender = {
  name: 'stats/v1',
  async start() {
    const upstream = await standInContender(PINS.client).start()
    await put(`${upstream.url}/control/faults`, { latencyMs: 120 })
    const running = await serviceContender(stats('v1'), { youtubeUri: upstream.url }).start()
    const stop = async () => {
      await running.stop()
      await upstream.stop()
    }
    return { ...running, stop }
  },
}

const farRow: OwnTable = {
  name: 'far',
  title: 'v1 with 120 ms to YouTube and back, 16 connections',
  columns: WITH_SOURCE,
  rows: () => [
    {
      ...read(stats('v1')),
      name: 'v1, 120 ms upstream',
      contender: far,
      source: ofSource(41, 362_830, 419_280, 579_630, 1_090_000, 1_240_000),
    },
  ],
}

const batching = { client: 'batching' }

const uncached: OwnTable = {
  name: 'uncached',
  title: 'Reads that ask YouTube every time (cache: none), 3 videos a collection, the stand-in on the same machine',
  steps: [
    ['v3 with batching, 64 collections', 'v3, 64 collections'],
    ['v3 with batching, one collection', 'v3, one collection'],
  ],
  rows: () => [
    { ...read(stats('v3')), name: 'v3, one collection' },
    many(stats('v3')),
    { ...many(stats('v3', batching)), name: 'v3 with batching, 64 collections' },
    { ...read(stats('v3', batching)), name: 'v3 with batching, one collection', ...asking(sample(64)) },
  ],
}

export const tables: readonly OwnTable[] = [ladder, sourceRows, farRow, uncached]
