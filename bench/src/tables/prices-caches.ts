import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answers'
import { scriptContender } from '../contenders/program.ts'
import { serviceContender } from '../contenders/service.ts'
import { SAMPLE, sizeOf } from '../prices/catalogs.ts'
import { figureOf } from '../report/columns.ts'
import { tenth, whole } from '../report/numbers.ts'
import { ask, askAndWatch, asking } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import { MANY, prices, searching } from './prices.ts'
import type { OwnTable } from './table.ts'

// What HTTP costs beside work that reads memory.

/** Of memory before each reply; an offering's rows take the map 3.5, all of them 175. */
const MEGABYTES = [0, 1, 4, 16]

const reading = (megabytes: number): Row => ({
  name: `${megabytes} MB`,
  contender: scriptContender(`reading ${megabytes} MB`, './reading-server.ts', String(megabytes)),
  async round(running, { duration, warmUp }) {
    const requests = { requests: [{ method: 'GET', path: '/' }], expect: { status: 200, body: '0' }, connections: MANY }
    const readSoFar = async () => Number(await (await fetch(`${running.url}/read`)).text())
    await ask(running, requests, { duration: warmUp, warmUp: 0 })
    const before = await readSoFar()
    const { costs: cpu, perSecond, requests: done } = await askAndWatch(running, requests, { duration, warmUp: 0 })
    const took = (((await readSoFar()) - before) * 1e6) / done
    return { cpu, reading: took, rest: cpu - took, perSecond }
  },
})

const caches: OwnTable = {
  name: 'caches',
  title:
    'What HTTP costs beside work that reads memory: a bare node:http server that reads so much before each reply, 20 connections',
  columns: {
    cpu: { head: 'CPU us/request', of: 'spread', format: tenth },
    reading: 'of it reading',
    rest: { head: 'HTTP', plot: 'HTTP (us a request)', of: 'spread', format: tenth },
    perSecond: 'requests/s',
  },
  rows: () => MEGABYTES.map(reading),
}

// With part of the answers in memory, and with a limited heap.

const BLOCKS = Math.ceil(sizeOf(SAMPLE) / BLOCK_ROWS)
const SHARES = [0.1, 0.25, 0.5, 0.75, 1]
/** The old space of each thread's heap (MB); the serving one holds 17 between requests. */
const HEAPS = [64, 32]
const EVERYTHING = 'memory'

/** @param kept of the answers in memory (bytes) */
function limited(name: string, settings: Spec['settings'], kept = BLOCKS * BLOCK_BYTES, env = {}): Row {
  const requests = asking(searching('prices-roaring-offering', MANY))
  return {
    name,
    contender: { ...serviceContender(prices(), { maxQueueDelay: '0', ...settings }, { env }), name: `prices, ${name}` },
    async round(running, how) {
      return { kept: kept / 1e6, ...(await requests.round(running, { ...how, warmUp: how.duration })) }
    },
  }
}

const limits: OwnTable = {
  name: 'limits',
  title:
    'Random searches with part of the answers in memory, and with a limited heap: 20 connections, one serving thread, none is refused (`--max-queue-delay 0`) (us)',
  columns: {
    kept: 'answers in memory MB',
    cpu: { head: 'CPU us/request', of: 'spread', format: tenth, plot: 'Server processor time a request (us)' },
    more: {
      head: 'more than with all in memory us',
      derive: (result, all) => {
        const whole_ = all.find(({ name }) => name === EVERYTHING)
        return whole_ && figureOf(result, 'cpu')! - figureOf(whole_, 'cpu')!
      },
    },
    perSecond: { head: 'requests/s', format: whole },
    p50: 'p50',
    p99: 'p99',
    max: 'max',
    memory: 'RSS MB',
  },
  rows: () => [
    limited(EVERYTHING, {}),
    ...SHARES.map((share) => {
      const kept = Math.ceil(BLOCKS * share) * BLOCK_BYTES
      const settings = { catalog: 'lru-level', cacheBytes: String(kept) }
      return limited(`lru-level, cache of ${Math.round(share * 100)} %`, settings, kept)
    }),
    ...HEAPS.map((heap) =>
      limited(`memory, heap of at most ${heap} MB`, {}, undefined, { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
    ),
  ],
}

export const tables: readonly OwnTable[] = [caches, limits]
