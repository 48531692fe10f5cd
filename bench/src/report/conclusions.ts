import { stepsOf, type Ratio } from '../ratios.ts'
import { SURE } from '../statistics.ts'
import { factor } from './numbers.ts'
import type { Published } from './results.ts'
import type { Cells } from './table.ts'

/** Who answers the same as ours, by what their rows are called. */
const PEER =
  /^(?:(?:GET|PUT), )?(?:bare|nginx|Caddy|etcd|NATS|Redis|Go|SQLite|better-sse|@fastify|nchan|Mercure's|Centrifugo|DuckDB)/

/** Of what ours is behind in and no reason is known for: a test finds it. */
export const UNEXPLAINED = 'why is not known.'

/** Why a peer is ahead, by the titles of conclusions. */
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
]

/** By what each costs: that is true whoever the generator was. */
function verdictOf({ differs, median, confidence }: Ratio): string {
  if (confidence < SURE) return 'not known'
  if (!differs) return 'alike'
  return median < 1 ? 'ahead' : 'behind'
}

/** Shorter than beside the rows it is of. */
function shortOf({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'not told'
  const shown = (value: number) => factor(value, 2)
  return shown(median) + (confidence < SURE ? '' : ` (${shown(low)} to ${shown(high)})`)
}

/** Where ours is ahead of each peer, by how much, and where not: a line each, of all tables that were published. */
export function conclusions(published: readonly Published[]): Cells {
  const rows = published.flatMap(({ table, results }) =>
    stepsOf(results, table)
      .filter(({ against }) => PEER.test(against))
      .map(({ name, ratios }) => {
        const [cost, rate] = ratios
        const title = `${table.service}/${table.name}: ${name}`
        return [title, verdictOf(cost!), shortOf(cost!), rate ? shortOf(rate) : '']
      }),
  )
  return [['ours / theirs', 'ours is', 'CPU of each', 'how many a second'], ...rows]
}

/** Why theirs is ahead: what each reason is told of, and the reason. */
export function reasonsOf(published: readonly Published[]): readonly (readonly [titles: string, reason: string])[] {
  const behind = conclusions(published).flatMap(([title, verdict]) => (verdict === 'behind' ? [title!] : []))
  const byReason = Map.groupBy(behind, (title) => REASONS.find(([of]) => of.test(title))?.[1] ?? UNEXPLAINED)
  return Array.from(byReason, ([reason, titles]) => [titles.join('; '), reason])
}
