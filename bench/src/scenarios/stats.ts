import { variants } from '@influencer-stats/stats/variants'
import { setTimeout as delay } from 'node:timers/promises'
import { bareContender } from '../contenders/bare.ts'
import type { Running } from '../contenders/contender.ts'
import { nginxAvailable, nginxContender } from '../contenders/nginx.ts'
import { serviceContender, standInContender } from '../contenders/service.ts'
import type { LoadRequest } from '../load/load.ts'
import { PINS } from '../processes.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import { RAW } from './doors.ts'
import type { Scenario, Backends } from './scenario.ts'

export const COLLECTION = '99757a95-f758-499f-a170-bea93b2d8bcf'
const VIDEOS = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo']
const ANSWER = '"impressions":785202,"engagements":46848,"score":89559,"videos":3,"missing":[]'
const READY_TIMEOUT = 30_000

// The same reply as the service's, header by header: what is compared is what it costs to come by it.
export const CONSTANT = {
  status: 200,
  headers: {
    'x-request-id': 'abcdef-12345',
    etag: '"hLrDsjqOGfxqQl3najJINaZwZEA"',
    age: '0',
    'cache-control': 'no-cache',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '128',
  },
  body: `{${ANSWER},"asOf":"2026-11-20T12:00:00.000Z","stale":false}`,
}

/** Requests a second of the five versions that v1 to v5 mirror, on their author's machine. */
const SOURCE: Readonly<Record<string, number>> = { v1: 283, v2: 2_986, v3: 3_218, v4: 31_082, v5: 38_596 }

const statsPath = (id: string) => `/collections/${id}/stats`
export const SAMPLE_PATH = statsPath(COLLECTION)

async function makeCollection({ url }: Running, id: string, videos: readonly string[]): Promise<void> {
  const reply = await fetch(`${url}/collections/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ videos }),
  })
  if (!reply.ok) throw new Error(`PUT was answered ${reply.status}`)
}

/** Waits for the numbers, where they come only with the next refresh. */
async function readWhenReady({ url }: Running, path: string): Promise<string> {
  for (const end = Date.now() + READY_TIMEOUT; ; await delay(100)) {
    const reply = await fetch(url + path)
    const body = await reply.text()
    if (reply.status === 200) return body
    if (Date.now() > end) throw new Error(`${path} was answered ${reply.status}: ${body}`)
  }
}

function expectPart(body: string, part: string): void {
  if (!body.includes(part)) throw new Error(`the answer is wrong: ${body}`)
}

/** Reads of one collection of three videos, the same in every row. */
async function prepareSample(running: Running): Promise<void> {
  await makeCollection(running, COLLECTION, VIDEOS)
  await proveSample(running)
}

/** Proves that a server answers as the service does, which may come only with the next refresh. */
export async function proveSample(running: Running): Promise<void> {
  expectPart(await readWhenReady(running, SAMPLE_PATH), ANSWER)
}

export const readSample = (connections: number): Row['load'] => ({
  requests: [{ method: 'GET', path: SAMPLE_PATH }],
  expect: { status: 200, includes: ANSWER },
  connections,
})

/** A row of reads of the sample collection. */
export function readRow(spec: Spec, { youtubeUri }: Backends): Row {
  return {
    name: spec.variant || 'default',
    contender: serviceContender(spec, { youtubeUri }),
    prepare: prepareSample,
    load: readSample(16),
    source: Object.keys(spec.settings).length === 0 ? SOURCE[spec.variant] : undefined,
  }
}

const prove = (part: string) => async (running: Running) => expectPart(await readWhenReady(running, '/'), part)

/** What any machine can do: rows that stand in every table. */
function constants(connections: number): Row[] {
  const load: Row['load'] = { ...readSample(connections), requests: [{ method: 'GET', path: '/' }] }
  const bare: Row = { name: 'bare node:http', contender: bareContender(CONSTANT), prepare: prove(ANSWER), load }
  if (!nginxAvailable()) return [bare]
  return [bare, { name: 'nginx static file', contender: nginxContender(CONSTANT.body), prepare: prove(ANSWER), load }]
}

const VIDEO_PATH = '/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&id=-4lB5EKS5Uk&key=stand-in'

function standInRow(connections: number, source?: number): Row {
  return {
    name: 'the stand-in',
    contender: standInContender(),
    prepare: async (running) => expectPart(await readWhenReady(running, VIDEO_PATH), '"261734"'),
    load: {
      requests: [{ method: 'GET', path: VIDEO_PATH }],
      expect: { status: 200, includes: '"261734"' },
      connections,
    },
    source,
  }
}

export const statsSpec = (variant: string, settings: Spec['settings'] = {}): Spec => {
  return { service: 'stats', variant, settings }
}

const LADDER = Object.keys(variants)

const ladder: Scenario = {
  service: 'stats',
  name: 'read',
  title: 'Reads of one collection of three videos, 16 connections, one serving thread',
  full: false,
  steps: [
    ...LADDER.slice(1).map((variant, i) => [variant, LADDER[i]!] as const),
    [RAW.stats, 'v4'],
    [RAW.stats, 'bare node:http'],
    [RAW.stats, 'nginx static file'],
  ],
  row: readRow,
  rows: async (backends) => [
    ...LADDER.map((variant) => readRow(statsSpec(variant), backends)),
    ...constants(16),
    standInRow(16),
  ],
}

const sourceRows: Scenario = {
  service: 'stats',
  name: 'source',
  title: "The source's other rows: an empty collection at 1 connection, the stand-in at 256",
  full: true,
  rows: async ({ youtubeUri }) => [
    {
      name: 'v1, empty collection',
      contender: serviceContender(statsSpec('v1'), { youtubeUri }),
      prepare: async (running) => {
        await makeCollection(running, 'empty', [])
        expectPart(await readWhenReady(running, statsPath('empty')), '"impressions":0')
      },
      load: {
        requests: [{ method: 'GET', path: statsPath('empty') }],
        expect: { status: 200, includes: '"impressions":0' },
        connections: 1,
      },
      source: 5_804,
    },
    standInRow(256, 21_635),
  ],
}

const farRow: Scenario = {
  service: 'stats',
  name: 'far',
  title: 'v1 with 120 ms to YouTube and back, 16 connections',
  full: true,
  rows: async () => {
    const far = standInContender(PINS.client)
    let standIn: Running | undefined
    return [
      {
        name: 'v1, 120 ms upstream',
        contender: {
          name: 'stats/v1',
          async start() {
            standIn = await far.start()
            const stats = await serviceContender(statsSpec('v1'), { youtubeUri: standIn.url }).start()
            const stop = async () => {
              await stats.stop()
              await standIn!.stop()
            }
            return { ...stats, stop }
          },
        },
        async prepare(running) {
          await fetch(`${standIn!.url}/control/faults`, {
            method: 'PUT',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ latencyMs: 120 }),
          })
          await prepareSample(running)
        },
        load: readSample(16),
        source: 41,
      },
    ]
  },
}

/** Three videos each, none in two collections. */
const manyCollections = Array.from({ length: 64 }, (_, i) => ({
  id: `c${i}`,
  videos: [0, 1, 2].map((j) => `${String(i * 3 + j).padStart(10, '0')}A`),
}))

const uncached: Scenario = {
  service: 'stats',
  name: 'uncached',
  title: 'Reads that ask YouTube every time (cache: none), 3 videos a collection, the stand-in on the same machine',
  full: true,
  steps: [
    ['v3 with batching, 64 collections', 'v3, 64 collections'],
    ['v3 with batching, one collection', 'v3, one collection'],
  ],
  rows: async ({ youtubeUri }) => {
    async function prepareMany(running: Running): Promise<void> {
      for (const { id, videos } of manyCollections) await makeCollection(running, id, videos)
      expectPart(await readWhenReady(running, statsPath('c0')), '"videos":3')
    }
    const many = (connections: number): Row['load'] => ({
      requests: manyCollections.map(({ id }): LoadRequest => ({ method: 'GET', path: statsPath(id) })),
      expect: { status: 200, includes: '"videos":3,"missing":[]' },
      connections,
    })
    const batching = { client: 'batching' }
    const row = (name: string, settings: Spec['settings'], prepare: Row['prepare'], load: Row['load']): Row => {
      return { name, contender: serviceContender(statsSpec('v3', settings), { youtubeUri }), prepare, load }
    }
    return [
      row('v3, one collection', {}, prepareSample, readSample(16)),
      row('v3, 64 collections', {}, prepareMany, many(64)),
      row('v3 with batching, 64 collections', batching, prepareMany, many(64)),
      row('v3 with batching, one collection', batching, prepareSample, readSample(64)),
    ]
  },
}

export const scenarios: readonly Scenario[] = [ladder, sourceRows, farRow, uncached]
