import { createServiceTarget } from '../../targets/service.ts'
import { formatWhole } from '../../report/format-numbers.ts'
import { runLoad } from '../../rounds/request-round.ts'
import type { BenchRow } from '../../row.ts'
import { createSpec } from '../../spec.ts'
import { SOURCE_CONNECTIONS, checkSearches, createSearches } from './prices.ts'
import type { ServiceTable } from '../../table.ts'

/** Searches per second, in all rows. */
const SEARCHES_PER_SECOND = 500
const WRITER_CONNECTIONS = 64
/** Changes per second in all rows with changes. */
const CHANGES_PER_SECOND = 2_000
/** Minimum duration (s). A shorter run has too few of the slowest requests. */
const MIN_DURATION_S = 10
/** Minimum warm-up (s): 2 s after its start a process trims its heap, which blocks the thread once for 0.1 s. */
const MIN_WARM_UP_S = 3

/**
 * Creates a row of searches, optionally during changes. A change gets its reply once it is on the disk and visible to
 * every thread. The service uses both processors.
 */
function createWritesRow(name: string, change?: { readonly drawer: string; readonly status: number }): BenchRow {
  const searches = createSearches('prices-constant', SOURCE_CONNECTIONS)
  const changes = change && {
    requests: { drawer: change.drawer },
    expect: { status: change.status },
    connections: WRITER_CONNECTIONS,
  }
  return {
    name,
    target: { ...createServiceTarget(createSpec('prices'), {}, { pin: [] }), name: `prices, ${name}` },
    prepare: checkSearches('roaring-offering'),
    async round(running, { duration, warmUp }) {
      const seconds = Math.max(duration, MIN_DURATION_S)
      const timing = { duration: seconds, warmUp: Math.max(warmUp, MIN_WARM_UP_S) }
      const [found, changed] = await Promise.all([
        runLoad(running, searches, { ...timing, rate: SEARCHES_PER_SECOND, shares: 'first' }),
        changes && runLoad(running, changes, { ...timing, rate: CHANGES_PER_SECOND, shares: 'fair' }),
      ])
      const { p50, p99, max } = found.latency
      return {
        p50,
        p99,
        max,
        lateness: found.lateness!,
        ...(changed && { puts: changed.perSecond, putP99: changed.latency.p99 }),
      }
    },
  }
}

const writes: ServiceTable = {
  name: 'writes',
  title: `${SEARCHES_PER_SECOND} searches per second over ${SOURCE_CONNECTIONS} connections while ${WRITER_CONNECTIONS} others make ${CHANGES_PER_SECOND} durable changes per second of the sample catalog; one serving thread, two processors for all`,
  columns: {
    p50: { head: 'search p50 us', format: formatWhole },
    p99: { head: 'search p99 us', format: formatWhole, of: 'spread', ratio: true, plot: 'Search, p99 (us)' },
    max: { head: 'max us', format: formatWhole },
    lateness: { head: 'generator late p99 us', format: formatWhole },
    puts: { head: 'PUT/s', format: formatWhole, of: 'spread' },
    putP99: { head: 'PUT p99 us', format: formatWhole },
  },
  steps: [
    ['while values change', 'alone'],
    ['while prices are added', 'alone'],
  ],
  rows: () => [
    createWritesRow('alone'),
    createWritesRow('while values change', { drawer: 'prices-put-value', status: 200 }),
    createWritesRow('while prices are added', { drawer: 'prices-put-new', status: 201 }),
  ],
}

export const tables: readonly ServiceTable[] = [writes]
