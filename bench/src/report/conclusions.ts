import { computeSteps, type Ratio } from '../ratios.ts'
import { MIN_CONFIDENCE } from '../statistics.ts'
import { listBetterSources } from './source-comparison.ts'
import { formatFactor } from './format-numbers.ts'
import type { PublishedTable } from './results.ts'
import type { Cells } from './table-cells.ts'

/** Peers that give the same answers as our services, by the names of their rows. */
const PEER_PATTERN =
  /^(?:(?:GET|PUT), )?(?:bare|nginx|Caddy|etcd|NATS|Redis|Go|SQLite|better-sse|@fastify|nchan|Mercure's|Centrifugo|DuckDB)/

/** Text for a peer that is ahead for an unknown reason. A test searches for it. */
export const UNKNOWN_REASON = 'why is not known.'

/** Reasons why a peer is ahead, by the titles of conclusions. */
const REASONS: readonly (readonly [of: RegExp, reason: string])[] = [
  [
    / bare node:net$/,
    'it parses nothing, judges nothing and writes the same bytes at each read: the floor of any server on Node.',
  ],
  [
    / nginx with open_file_cache$/,
    'it sends a reply that was ready before from C; ours finds out in JavaScript what is asked for, whether that is still so, and how old it is, and counts it.',
  ],
  [/^kv\/.*\/ bare (GET|PUT)/, 'it looks nothing up and keeps nothing: what it lacks is LevelDB.'],
  [
    /^cluster\/.*\/ NATS KV, (1|16) /,
    'a client of NATS KV speaks to a server by itself. A write of ours is HTTP, a line to the main thread, a frame of the log, and then every node reads that frame and writes it to its base; frames carry many writes once many are under way, and then ours is ahead.',
  ],
  [
    /^cluster\/.*\/ etcd, (1|16) /,
    'three processes do what takes six of ours, servers of the log and nodes, each of which wakes for a write that comes alone; many at once share a frame.',
  ],
  [
    /^stats\/read: v[13] \/ the source$/,
    'an answer makes three calls to the stand-in for YouTube, which shares a processor with the generator. The generator of an open loop looks at the clock all the time, so each call waits for a turn. Their latencies are of a closed loop.',
  ],
  [
    /^stats\/read: v2 \/ the source$/,
    'an answer makes three calls by `fetch` of Node. v3 replaces it and makes more requests/s than theirs. The latencies are those of v1 and v3.',
  ],
  [
    /^stats\/(read: v5|source: v1, empty collection) \/ the source$/,
    'ours are latencies of an open loop at 70 % of the highest rate, counted from the intended start; theirs are of a closed loop, which sends nothing while the server is slow. Requests/s of one connection depend on the round trip of the machine.',
  ],
  [
    /^stats\/far: .* \/ the source$/,
    'three calls of 120 ms, one after the other, take 360 ms anywhere. A round of 1.5 s ends before the fifth reply of each connection, which the rate does not count.',
  ],
  [
    /^sse\/connections: .* \/ the source$/,
    'the figure is that of the busiest second, in which code runs that is not compiled yet. With 1,000 streams and more ours is lower.',
  ],
  [
    /^kv\/rates: PUT, empty base, .* \/ the source$/,
    'the search ends at the first rate that 2 % of the replies of one round miss. In `kv/paced` ours keeps up with their 9,000/s, at a lower p99.',
  ],
  [
    /^kv\/scarce: GET, .* \/ the source$/,
    'LevelDB maps its tables, so a GET of a page that is not in memory is a page fault. Linux then reads as much as the read-ahead of the disk, 8 MB on this machine: 3.8 MB for a block of 4 KB, and drops as many pages. With a read-ahead of 128 KB a GET reads 60 KB, with `MADV_RANDOM` on the tables 5 KB, at 40 times the rate.',
  ],
  [
    /^prices\/.*, 1 connection \/ the source$/,
    'one request at a time is a round trip between two processes: a bare `node:http` server with a constant reply takes longer than ours. Their round trip is that of Go and wrk on their machine.',
  ],
  [
    /^prices\/percentiles: map, 20 connections \/ the source$/,
    'a search by maps takes 0.3 ms of one thread, and 20 wait for the one serving thread of ours; their server has two processors. On 1 connection ours is ahead.',
  ],
  [
    /^prices\/memory: memory, map \/ the source$/,
    'each price of this index is a `Map` of JavaScript: 175 of the 227 MB (`prices/storage`). It is there to compare with; bitmaps are the default.',
  ],
  [
    /^prices\/memory: lru-level, .* \/ the source$/,
    'theirs counts the cache and the index alone; ours also counts the ids of all prices (7.8 MB) and the caches of LevelDB (3.1 MB), and has a larger index (9.3 MB; theirs 3 MB).',
  ],
]

/** Compares costs: they are valid with any generator. */
function toVerdict({ differs, median, confidence }: Ratio): string {
  if (confidence < MIN_CONFIDENCE) return 'not known'
  if (!differs) return 'alike'
  return median < 1 ? 'ahead' : 'behind'
}

/** Shorter than the text below the rows. */
function formatShortRatio({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'not told'
  const shown = (value: number) => formatFactor(value, 2)
  return shown(median) + (confidence < MIN_CONFIDENCE ? '' : ` (${shown(low)} to ${shown(high)})`)
}

/** Compares our rows with each peer, one line each, over all published tables. */
export function listConclusions(published: readonly PublishedTable[]): Cells {
  const rows = published.flatMap(({ table, results }) =>
    computeSteps(results, table)
      .filter(({ against }) => PEER_PATTERN.test(against))
      .map(({ name, ratios }) => {
        const [cost, rate] = ratios
        const title = `${table.service}/${table.name}: ${name}`
        return [title, toVerdict(cost!), formatShortRatio(cost!), rate ? formatShortRatio(rate) : '']
      }),
  )
  return [['ours / theirs', 'ours is', 'CPU of each', 'how many a second'], ...rows]
}

/** Introduction to the values that are better in a source. */
export const BETTER_SOURCES_TEXT =
  'Figures of a source that are better than ours. They come from other machines, so there is no interval.'

/** Reasons why peers are ahead, each with the titles that it applies to. */
export function listReasons(
  published: readonly PublishedTable[],
): readonly (readonly [titles: string, reason: string])[] {
  const slower = listConclusions(published).flatMap(([title, verdict]) => (verdict === 'behind' ? [title!] : []))
  const sources = listBetterSources(published).slice(1)
  const titles = [...slower, ...sources.map(([title]) => title!)]
  const byReason = Map.groupBy(titles, (title) => REASONS.find(([of]) => of.test(title))?.[1] ?? UNKNOWN_REASON)
  return Array.from(byReason, ([reason, all]) => [all.join('; '), reason])
}
