import { stepsOf, type Ratio } from '../ratios.ts'
import { SURE } from '../statistics.ts'
import { factor } from './numbers.ts'
import type { Published } from './results.ts'
import type { Cells } from './table.ts'

/** Who answers the same as ours, by what their rows are called. */
const PEER =
  /^(?:(?:GET|PUT), )?(?:bare|nginx|Caddy|etcd|NATS|Redis|Go|SQLite|better-sse|@fastify|nchan|Mercure's|Centrifugo|DuckDB)/

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
