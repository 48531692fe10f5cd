import { ratioText, stepsOf } from '../ratios.ts'
import type { Published } from './results.ts'
import type { Cells } from './table.ts'

/** What stands beside ours: who else answers the same. */
const isPeer = (name: string) =>
  /^(bare|nginx|Caddy|etcd|Valkey|Go|SQLite|DuckDB|better-sse|@fastify|Mercure|nchan)/i.test(name)

/** Where ours is ahead of each peer, by how much, and where not: one line each, of all tables. */
export function conclusions(published: readonly Published[]): Cells {
  const rows = published.flatMap(({ table, results }) =>
    stepsOf(results, table)
      .filter(({ against }) => isPeer(against))
      .map(({ name, ratios }) => [`${table.service}: ${name}`, ...ratios.slice(0, 2).map(ratioText)]),
  )
  return [['', 'CPU each', 'each second'], ...rows]
}
