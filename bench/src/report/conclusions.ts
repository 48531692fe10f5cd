import { computeSteps, type Ratio } from '../ratios.ts'
import { MIN_CONFIDENCE } from '../statistics.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../table.ts'
import { getMetric, getSource, isSource, SOURCE_PREFIX, toColumn, type Column } from './columns.ts'
import { formatFactor, formatShort } from './format-numbers.ts'
import { getTableName, type PublishedTable } from './results.ts'
import type { Cells } from './table-cells.ts'

/** Matches the names of rows of other programs (peers), which send the same replies as our services. */
const PEER_PATTERN =
  /^(?:(?:GET|PUT), )?(?:bare|nginx|Caddy|etcd|NATS|Redis|Go|SQLite|better-sse|@fastify|nchan|Mercure's|Centrifugo|DuckDB)/

/** Text for a peer that is better for an unknown reason. A test checks that no report contains it. */
export const UNKNOWN_REASON = 'The reason is unknown.'

/** Reasons why a peer or the source is better, by patterns of the titles of conclusions. */
const REASONS: readonly (readonly [of: RegExp, reason: string])[] = [
  [
    / bare node:net$/,
    'The bare server parses nothing, evaluates nothing and writes the same bytes at each read: the lower bound of any server on Node.',
  ],
  [
    / nginx with open_file_cache$/,
    'nginx sends a prepared reply from C. Ours finds the reply of the request in JavaScript, checks that it is current, computes its age, and counts it.',
  ],
  [
    /^kv\/limits: .* \/ bare (GET with getSync|PUT with batches)$/,
    'The bare server uses LevelDB in the same way, but it checks nothing and sends the same bytes: the difference is the code of kv.',
  ],
  [/^kv\/.*\/ bare (GET|PUT)/, 'The bare server looks up and stores no data: the difference is LevelDB.'],
  [
    /^cluster\/.*\/ NATS KV, (1|16) /,
    'A client of NATS KV calls a server directly. A write to kv takes an HTTP request, a message to the main thread and a frame of the log. Then every node reads that frame and writes it to its base. If many writes run at once, a frame carries many of them, and kv is better.',
  ],
  [
    /^cluster\/.*\/ etcd, (1|16) /,
    'The peer runs three processes. Ours runs six: the servers of the log and the nodes. Each of them wakes up for a single write; many writes at once share a frame.',
  ],
  [
    /^stats\/read: v[13] \/ the source$/,
    'An answer makes three calls to the stand-in for YouTube, which shares a processor with the generator. The generator of an open loop polls the clock, so each call waits for the processor. Their latencies are of a closed loop.',
  ],
  [
    /^stats\/read: v2 \/ the source$/,
    'An answer makes three calls by `fetch` of Node. v3 replaces it and serves more requests/s than the source. For the latencies the reason is that of v1 and v3.',
  ],
  [
    /^stats\/(read: v5|source: v1, empty collection) \/ the source$/,
    'Our latencies are of an open loop at 70 % of the highest rate, from the intended start. Theirs are of a closed loop, which sends nothing while the server is slow. Requests/s of one connection depend on the round trip of the machine.',
  ],
  [
    /^stats\/far: .* \/ the source$/,
    'Three sequential calls of 120 ms take 360 ms on any machine. A round of 1.5 s ends before the fifth reply of each connection, so the rate does not count it.',
  ],
  [
    /^sse\/connections: .* \/ the source$/,
    'The value is that of the busiest second, which runs code that is not compiled yet. With 1,000 streams and more the value of this project is lower.',
  ],
  [
    /^kv\/rates: PUT, empty base, .* \/ the source$/,
    'The search ends at the first rate at which 2 % of the replies of one round are missing. In `kv/paced` kv sustains the 9,000/s of the source, at a lower p99.',
  ],
  [
    /^kv\/scarce: GET, .* \/ the source$/,
    'LevelDB maps its tables, so a GET of a page that is not in memory is a page fault. Linux then reads up to the read-ahead of the disk, 8 MB on this machine: 3.8 MB for a block of 4 KB. It drops the same number of pages. With a read-ahead of 128 KB a GET reads 60 KB. With `MADV_RANDOM` on the tables it reads 5 KB, at 40 times the rate.',
  ],
  [
    /^prices\/.*, 1 connection \/ the source$/,
    'One request at a time measures the round trip between two processes. A bare `node:http` server with a constant reply takes longer than prices. The round trip of the source is that of Go and wrk on its machine.',
  ],
  [
    /^prices\/percentiles: map, 20 connections \/ the source$/,
    'A search by maps takes 0.3 ms of one thread, and 20 requests wait for the one serving thread. The server of the source has two processors. On 1 connection prices is better.',
  ],
  [
    /^prices\/memory: memory, map \/ the source$/,
    'Each price of this index is a JavaScript `Map`: 175 of the 227 MB (`prices/storage`). The index serves as a comparison; bitmaps are the default.',
  ],
  [
    /^prices\/memory: lru-level, .* \/ the source$/,
    'The source counts only the cache and the index. The measured memory of prices also includes the ids of all prices (7.8 MB) and the caches of LevelDB (3.1 MB), and has a larger index (9.3 MB; that of the source has 3 MB).',
  ],
]

/** Formats the result of a comparison of costs, which are valid even if the generator was the limit. */
function toVerdict({ finding, median, confidence }: Ratio): string {
  if (confidence < MIN_CONFIDENCE) return 'too few starts'
  if (finding !== 'difference') return finding
  return median < 1 ? 'better' : 'worse'
}

/** Formats a ratio, shorter than `formatRatio`. */
function formatShortRatio({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'generator limit'
  const format = (value: number) => formatFactor(value, 2)
  return format(median) + (confidence < MIN_CONFIDENCE ? '' : ` (${format(low)} to ${format(high)})`)
}

/**
 * Returns a table with one line for each comparison of our rows with a peer, from all published tables. It names the
 * processors if there are several models.
 */
export function listConclusions(published: readonly PublishedTable[]): Cells {
  const processors = new Set(published.map(({ machine }) => machine.processor))
  const ifSeveral = (cell: string) => (processors.size > 1 ? [cell] : [])
  const rows = published.flatMap((one) =>
    computeSteps(one.results, one.table)
      .filter(({ against }) => PEER_PATTERN.test(against))
      .map(({ name, ratios }) => {
        const [cost, rate] = ratios
        const title = `${getTableName(one)}: ${name}`
        const cells = [title, toVerdict(cost!), formatShortRatio(cost!), rate ? formatShortRatio(rate) : '']
        return [...cells, ...ifSeveral(one.machine.processor)]
      }),
  )
  return [['ours / peer', 'our result', 'CPU per operation', 'operations/s', ...ifSeveral('processor')], ...rows]
}

/** Our value and the value of the source, if a table has a column for each and both are numbers. */
export interface SourcePair {
  readonly column: Column
  readonly ours: number
  readonly theirs: number
  /** Both values as text. */
  readonly text: string
}

export function listSourcePairs(result: RowResult, { columns }: Pick<BenchTable, 'columns'>): SourcePair[] {
  return Object.entries(columns).flatMap(([name, sourceColumn]) => {
    const own = columns[name.replace(SOURCE_PREFIX, '')]
    const [measured, reference] = [getMetric(result, name.replace(SOURCE_PREFIX, '')), getSource(result, name)]
    if (!isSource(name) || own === undefined || measured === undefined || typeof reference !== 'number') return []
    const [column, { format = formatShort }] = [toColumn(own), toColumn(sourceColumn)]
    const text = `${column.head} ${(column.format ?? formatShort)(measured)} (${format(reference)})`
    return [{ column, ours: measured, theirs: reference, text }]
  })
}

const isSourceBetter = ({ column: { better, sourceUnits = 1 }, ours, theirs }: SourcePair): boolean =>
  better === 'more' ? ours * sourceUnits < theirs : better === 'less' && ours * sourceUnits > theirs

/** Returns a table with the values of the source that are better than ours, one line for each row that has any. */
export function listBetterSources(published: readonly PublishedTable[]): Cells {
  const rows = published.flatMap((one) =>
    one.results.flatMap((result) => {
      const better = listSourcePairs(result, one.table).filter(isSourceBetter)
      const title = `${getTableName(one)}: ${result.name} / the source`
      return better.length > 0 ? [[title, better.map(({ text }) => text).join('; ')]] : []
    }),
  )
  return [['ours / the source', "ours (the source's)"], ...rows]
}

/** Introduction to the values of the source that are better than ours. */
export const BETTER_SOURCES_TEXT =
  'The source of a service is the project that the service reimplements. These of its published values are better than ours. They come from other machines, so they have no interval.'

/** Returns the reasons why peers or the source are better, each with the titles to which it applies. */
export function listReasons(
  published: readonly PublishedTable[],
): readonly (readonly [titles: string, reason: string])[] {
  const slower = listConclusions(published).flatMap(([title, verdict]) => (verdict === 'worse' ? [title!] : []))
  const sources = listBetterSources(published).slice(1)
  const titles = [...new Set([...slower, ...sources.map(([title]) => title!)])]
  const byReason = Map.groupBy(titles, (title) => REASONS.find(([of]) => of.test(title))?.[1] ?? UNKNOWN_REASON)
  return Array.from(byReason, ([reason, all]) => [all.join('; '), reason])
}
