import { variants } from '@influencer-stats/stats/variants'
import { createBareTarget } from '../targets/bare.ts'
import type { BenchTarget, TargetProcess } from '../targets/target.ts'
import { createNginxTarget } from '../targets/nginx.ts'
import { createServiceTarget, getStandInUrl, createStandInTarget } from '../targets/service.ts'
import type { LoadRequest } from '../load/load-plan.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { formatWhole } from '../report/format-numbers.ts'
import { createCheckedRound, createRequestRound, REQUEST_COLUMNS, type RequestLoad } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { getSourceValues } from '../sources/source-figures.ts'
import { statsSource } from '../sources/stats.ts'
import { formatLabel, createSpec, type Spec } from '../spec.ts'
import { RAW_VARIANTS } from './server-variants.ts'
import type { ServiceTable, Workload } from '../table.ts'

export const COLLECTION_ID = '99757a95-f758-499f-a170-bea93b2d8bcf'
const VIDEO_IDS = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo']
const EXPECTED_STATS = '"impressions":785202,"engagements":46848,"score":89559,"videos":3,"missing":[]'

// Reply of constant servers: the same as the reply of the service, header by header.
export const CONSTANT_REPLY = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    etag: '"hLrDsjqOGfxqQl3najJINaZwZEA"',
    age: '0',
    'cache-control': 'no-cache',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '162',
  },
  body: `{${EXPECTED_STATS},"asOf":"2026-11-20T12:00:00.000Z","stale":false,"source":"http://127.0.0.1:34567"}`,
}

export const getStatsPath = (id: string) => `/collections/${id}/stats`
export const SAMPLE_PATH = getStatsPath(COLLECTION_ID)

/** Creates the target stats, which calls a stand-in for YouTube. The stand-in runs in the background. */
export const createStatsTarget = (spec: Spec): BenchTarget =>
  createServiceTarget(spec, {}, { getSettings: async () => ({ youtubeUri: await getStandInUrl() }) })

async function put(url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`the reply to PUT has status ${reply.status}`)
}

export const makeCollection = ({ url }: TargetProcess, id: string, videos: readonly string[]): Promise<void> =>
  put(`${url}/collections/${id}`, { videos })

export const createGets = (path: string, includes: string, connections: number, says: string): RequestLoad => ({
  says: `${connections} connections that ${says}`,
  requests: [{ method: 'GET', path }],
  expect: { status: 200, includes },
  connections,
})

export const createSampleReads = (connections = 16): RequestLoad =>
  createGets(SAMPLE_PATH, EXPECTED_STATS, connections, 'read one collection of three videos')

/** Variants that call YouTube for each reply. Their stand-in has the processor of the generator. */
const CALLING_VARIANTS = new Set(['v1', 'v2', 'v3'])

/** Lets the generator sleep during loads of variants that call YouTube for each reply. */
const toUpstreamLoad = ({ variant }: Spec, load: RequestLoad): RequestLoad =>
  CALLING_VARIANTS.has(variant) ? { ...load, sleeps: true } : load

/** Reads of one collection of three videos. */
export const read: Workload = (spec) => ({
  name: formatLabel(spec),
  target: createStatsTarget(spec),
  ...createCheckedRound(toUpstreamLoad(spec, createSampleReads()), (running) =>
    makeCollection(running, COLLECTION_ID, VIDEO_IDS),
  ),
  ...(Object.keys(spec.settings).length === 0 && { source: getSourceValues(statsSource, 'stats/read', spec.variant) }),
})

/** Creates a row of a server with a constant reply, which receives the same requests as the service. */
export const createConstantRow = (
  target: BenchTarget,
  requests = createSampleReads(),
  name = target.name,
): BenchRow => {
  return { name, target, ...createCheckedRound(createSampleReads()), ...createRequestRound(requests) }
}

/** Marks a row of the usual reads, which a run measures once for all tables that contain it. */
export const shareRead = (row: BenchRow): BenchRow => ({ ...row, sharedAs: `read, ${row.target.name}` })

/** Number of collections without common videos. Further collections have the same videos again. */
const DISTINCT_COLLECTIONS = 1_000
const createCollection = (i: number) => ({
  id: `c${i}`,
  videos: [0, 1, 2].map((j) => `${String((i % DISTINCT_COLLECTIONS) * 3 + j).padStart(10, '0')}A`),
})
const THREE_VIDEOS = '"videos":3,"missing":[]'
const MAX_CONCURRENT_PUTS = 64

/** Creates reads of `count` collections in turn, with `count` connections. */
export const createReads = (count: number): RequestLoad => ({
  says: `${count} connections that read ${count} collections in turn`,
  requests: Array.from({ length: count }, (_, i): LoadRequest => ({ method: 'GET', path: getStatsPath(`c${i}`) })),
  expect: { status: 200, includes: THREE_VIDEOS },
  connections: count,
})

/** Creates `count` collections, several in parallel. */
export async function makeCollections(running: TargetProcess, count: number): Promise<void> {
  for (let made = 0; made < count; made += MAX_CONCURRENT_PUTS) {
    const some = Array.from({ length: Math.min(MAX_CONCURRENT_PUTS, count - made) }, (_, i) =>
      createCollection(made + i),
    )
    await Promise.all(some.map(({ id, videos }) => makeCollection(running, id, videos)))
  }
}

const readMany: Workload = (spec) => ({
  name: `${formatLabel(spec)}, 64 collections`,
  target: createStatsTarget(spec),
  ...createCheckedRound(toUpstreamLoad(spec, createReads(64)), (running) => makeCollections(running, 64)),
})

const readEmpty: Workload = (spec) => ({
  name: `${formatLabel(spec)}, empty collection`,
  target: createStatsTarget(spec),
  ...createCheckedRound(
    createGets(getStatsPath('empty'), '"impressions":0', 1, 'read an empty collection'),
    (running) => makeCollection(running, 'empty', []),
  ),
})

/** Workloads for any variant; the first is the default. */
export const workloads = { read, many: readMany, empty: readEmpty } satisfies Record<string, Workload>

const VIDEO_PATH =
  '/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&prettyPrint=false&id=-4lB5EKS5Uk&key=stand-in'

const createStandInRow = (connections: number): BenchRow => ({
  name: 'the stand-in',
  target: createStandInTarget(),
  ...createCheckedRound(createGets(VIDEO_PATH, '"261734"', connections, 'read one video of the stand-in')),
})

const createStatsSpec = (variant: string, settings: Spec['settings'] = {}) => createSpec('stats', variant, settings)
const VARIANT_NAMES = Object.keys(variants)

/** Columns of requests, and latencies of a closed loop: ours and those of the source. */
const SOURCE_COLUMNS: Columns = {
  ...REQUEST_COLUMNS,
  ...Object.fromEntries(
    ['P50', 'P75', 'P90', 'P99', 'Max'].flatMap((name) => [
      [
        `closed${name}`,
        {
          head: `closed loop ${name.toLowerCase()} us`,
          format: formatWhole,
          of: 'spread',
          isDetail: true,
          better: 'less',
        },
      ],
      [`source: closed${name}`, { head: `source: ${name.toLowerCase()} us`, format: formatWhole, isDetail: true }],
    ]),
  ),
}

const variantsTable: ServiceTable = {
  name: 'read',
  title:
    "Reads of one collection of three videos, 16 connections, one serving thread; the source's latencies are of a closed loop",
  when: 'always',
  group: 'reads',
  columns: SOURCE_COLUMNS,
  together: true,
  // The first three call YouTube for each reply, and are 30 times slower.
  paceClass: (row) => (CALLING_VARIANTS.has(row) ? 'uncached' : 'cached'),
  steps: [
    ...VARIANT_NAMES.slice(1).map((variant, i) => [variant, VARIANT_NAMES[i]!] as const),
    [RAW_VARIANTS.stats, 'v4'],
    [RAW_VARIANTS.stats, 'bare node:http'],
    [RAW_VARIANTS.stats, 'nginx static file'],
  ],
  rows: (specs) => [
    ...(specs.length > 0 ? specs : VARIANT_NAMES.map((variant) => createStatsSpec(variant))).map(read).map(shareRead),
    shareRead(createConstantRow(createBareTarget(CONSTANT_REPLY))),
    shareRead(createConstantRow(createNginxTarget(CONSTANT_REPLY.body))),
    createStandInRow(16),
  ],
}

/** Adds the values of the source to a row of the table `source`. */
const withSource = (row: BenchRow): BenchRow => ({
  ...row,
  source: getSourceValues(statsSource, 'stats/source', row.name),
})

const sourceTable: ServiceTable = {
  name: 'source',
  title: "The source's other rows: an empty collection at 1 connection, the stand-in at 256",
  columns: SOURCE_COLUMNS,
  rows: () => [withSource(readEmpty(createStatsSpec('v1'))), withSource(createStandInRow(256))],
}

/** The variant v1 and a stand-in that delays its replies by 120 ms. */
const farTarget: BenchTarget = {
  name: 'stats/v1',
  async start() {
    const upstream = await createStandInTarget(PINS.client).start()
    await put(`${upstream.url}/control/faults`, { latencyMs: 120 })
    const running = await createServiceTarget(createStatsSpec('v1'), { youtubeUri: upstream.url }).start()
    const stop = async () => {
      await running.stop()
      await upstream.stop()
    }
    return { ...running, stop }
  },
}

const farTable: ServiceTable = {
  name: 'far',
  title: 'v1 with 120 ms to YouTube and back, 16 connections',
  columns: SOURCE_COLUMNS,
  rows: () => [
    {
      ...read(createStatsSpec('v1')),
      name: 'v1, 120 ms upstream',
      target: farTarget,
      source: getSourceValues(statsSource, 'stats/far', 'v1, 120 ms upstream'),
    },
  ],
}

const BATCHING_SETTINGS = { client: 'batching' }

const uncached: ServiceTable = {
  name: 'uncached',
  title: 'Reads that call YouTube every time (cache: none), 3 videos per collection, the stand-in on the same machine',
  steps: [
    ['v3 with batching, 64 collections', 'v3, 64 collections'],
    ['v3 with batching, one collection', 'v3, one collection'],
  ],
  rows: () => [
    { ...read(createStatsSpec('v3')), name: 'v3, one collection' },
    readMany(createStatsSpec('v3')),
    { ...readMany(createStatsSpec('v3', BATCHING_SETTINGS)), name: 'v3 with batching, 64 collections' },
    {
      ...read(createStatsSpec('v3', BATCHING_SETTINGS)),
      name: 'v3 with batching, one collection',
      ...createRequestRound({ ...createSampleReads(64), sleeps: true }),
    },
  ],
}

export const tables: readonly ServiceTable[] = [variantsTable, sourceTable, farTable, uncached]
