import { serviceContender } from '../contenders/service.ts'
import { whole } from '../report/numbers.ts'
import { ask } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { MANY, prices, proveSearches, searching } from './prices.ts'
import type { OwnTable } from './table.ts'

/** Searches a second while prices change, however often. */
const PACE = 500
const WRITERS = 64
/** Changes a second: the same in all rows, or none. */
const CHANGES = 2_000
/** Seconds at least: fewer see too few of the slowest. */
const SHORTEST = 10
/** Before that: a process gives back what its start took 2 s after it, which holds the thread for 0.1 s, once. */
const SETTLED = 3

/** A change is answered when it is on the disk and every thread finds it; both processors are the service's. */
function underWrites(name: string, change?: { readonly drawer: string; readonly status: number }): Row {
  const searches = searching('prices-constant', MANY)
  const changes = change && {
    requests: { drawer: change.drawer },
    expect: { status: change.status },
    connections: WRITERS,
  }
  return {
    name,
    contender: { ...serviceContender(prices(), {}, { pin: [] }), name: `prices, ${name}` },
    prepare: proveSearches('roaring-offering'),
    async round(running, { duration, warmUp }) {
      const seconds = Math.max(duration, SHORTEST)
      const way = { duration: seconds, warmUp: Math.max(warmUp, SETTLED) }
      const [found, changed] = await Promise.all([
        ask(running, searches, { ...way, rate: PACE, shares: 'first' }),
        changes && ask(running, changes, { ...way, rate: CHANGES, shares: 'fair' }),
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

const writes: OwnTable = {
  name: 'writes',
  title: `${PACE} searches a second over ${MANY} connections while ${WRITERS} others make ${CHANGES} durable changes a second of the sample catalog; one serving thread, two processors for all`,
  columns: {
    p50: { head: 'search p50 us', format: whole },
    p99: { head: 'search p99 us', format: whole, of: 'spread', ratio: true, plot: 'Search, p99 (us)' },
    max: { head: 'max us', format: whole },
    lateness: { head: 'generator late p99 us', format: whole },
    puts: { head: 'PUT/s', format: whole, of: 'spread' },
    putP99: { head: 'PUT p99 us', format: whole },
  },
  steps: [
    ['beside other values', 'alone'],
    ['beside new prices', 'alone'],
  ],
  rows: () => [
    underWrites('alone'),
    underWrites('beside other values', { drawer: 'prices-put-value', status: 200 }),
    underWrites('beside new prices', { drawer: 'prices-put-new', status: 201 }),
  ],
}

export const tables: readonly OwnTable[] = [writes]
