import { BLOCK_BYTES, BLOCK_ROWS } from '@influencer-stats/prices/core/answer-block'
import { createScriptTarget } from '../../targets/program.ts'
import { createServiceTarget } from '../../targets/service.ts'
import { SAMPLE, getCatalogSize } from '../../load/requests/catalogs.ts'
import { getMetric } from '../../report/columns.ts'
import { formatTenth, formatWhole } from '../../report/format-numbers.ts'
import { runLoad, runMeasuredLoad, createRequestRound } from '../../rounds/request-round.ts'
import type { BenchRow } from '../../row.ts'
import { createSpec, type Spec } from '../../spec.ts'
import { SOURCE_CONNECTIONS, createSearches } from './prices.ts'
import type { ServiceTable } from '../../table.ts'

// Cost of HTTP in a server that also reads memory.

/** Memory read before each reply (MB). In the index `map`, the rows of an offering have 3.5 MB, all rows 175 MB. */
const MEGABYTES = [0, 1, 4, 16]

const createReadingRow = (megabytes: number): BenchRow => ({
  name: `${megabytes} MB`,
  target: createScriptTarget(`reading ${megabytes} MB`, 'reading-server.ts', String(megabytes)),
  async round(running, { duration, warmUp }) {
    const requests = {
      requests: [{ method: 'GET', path: '/' }],
      expect: { status: 200, body: '0' },
      connections: SOURCE_CONNECTIONS,
    }
    const getReadSeconds = async () => Number(await (await fetch(`${running.url}/read`)).text())
    await runLoad(running, requests, { duration: warmUp, warmUp: 0 })
    const before = await getReadSeconds()
    const { costs: cpu, perSecond, requests: done } = await runMeasuredLoad(running, requests, { duration, warmUp: 0 })
    const took = (((await getReadSeconds()) - before) * 1e6) / done
    return { cpu, reading: took, rest: cpu - took, perSecond }
  },
})

const caches: ServiceTable = {
  name: 'caches',
  title:
    'Cost of HTTP in a server that reads memory: a bare node:http server that reads this amount before each reply, 20 connections',
  columns: {
    cpu: { head: 'CPU us/request', of: 'spread', format: formatTenth },
    reading: 'reading',
    rest: { head: 'HTTP', plot: 'HTTP (us per request)', of: 'spread', format: formatTenth },
    perSecond: 'requests/s',
  },
  rows: () => MEGABYTES.map(createReadingRow),
}

// A limited answer cache and a limited heap.

const BLOCK_COUNT = Math.ceil(getCatalogSize(SAMPLE) / BLOCK_ROWS)
const CACHE_SHARES = [0.1, 0.25, 0.5, 0.75, 1]
/** Old-space limit of each thread's heap (MB). The serving thread holds 17 MB between requests. */
const HEAP_MEGABYTES = [64, 32]
const MEMORY_ROW = 'memory'

/** @param kept size of the answers in memory (bytes). Result files have this metric under the same name */
function createLimitedRow(
  name: string,
  settings: Spec['settings'],
  kept = BLOCK_COUNT * BLOCK_BYTES,
  env = {},
): BenchRow {
  const requests = createRequestRound(createSearches('prices-roaring-offering', SOURCE_CONNECTIONS))
  return {
    ...requests,
    name,
    target: {
      ...createServiceTarget(createSpec('prices'), { maxQueueDelay: '0', ...settings }, { env }),
      name: `prices, ${name}`,
    },
    async round(running, how) {
      return {
        kept: kept / 1e6,
        ...(await requests.round(running, { ...how, warmUp: Math.max(how.warmUp, how.duration) })),
      }
    },
  }
}

const limits: ServiceTable = {
  name: 'limits',
  title:
    'Random searches with part of the answers in memory, and with a limited heap: 20 connections, one serving thread, no request is refused (`--max-queue-delay 0`) (us)',
  columns: {
    kept: 'answers in memory MB',
    cpu: { head: 'CPU us/request', of: 'spread', format: formatTenth, plot: 'Server processor time per request (us)' },
    more: {
      head: 'increase over all in memory us',
      derive: (result, all) => {
        const memoryRow = all.find(({ name }) => name === MEMORY_ROW)
        return memoryRow && getMetric(result, 'cpu')! - getMetric(memoryRow, 'cpu')!
      },
    },
    perSecond: { head: 'requests/s', format: formatWhole },
    p50: 'p50',
    p99: 'p99',
    max: 'max',
    memory: 'RSS MB',
  },
  rows: () => [
    createLimitedRow(MEMORY_ROW, {}),
    ...CACHE_SHARES.map((share) => {
      const kept = Math.ceil(BLOCK_COUNT * share) * BLOCK_BYTES
      const settings = { catalog: 'lru-level', cacheBytes: String(kept) }
      return createLimitedRow(`lru-level, cache of ${Math.round(share * 100)} %`, settings, kept)
    }),
    ...HEAP_MEGABYTES.map((heap) =>
      createLimitedRow(`memory, heap of at most ${heap} MB`, {}, undefined, {
        NODE_OPTIONS: `--max-old-space-size=${heap}`,
      }),
    ),
  ],
}

export const tables: readonly ServiceTable[] = [caches, limits]
