import type { Spec } from '../spec.ts'
import { tables } from './all.ts'
import type { BenchTable } from '../table.ts'

/** Selection of tables on the command line. */
export interface TableSelection {
  readonly specs: readonly Pick<Spec, 'service'>[]
  /** Names of tables, separated by commas. */
  readonly table?: string | undefined
  readonly full: boolean
  readonly peers: boolean
  readonly growth: boolean
}

/** Returns the selected tables. @throws Error if there are none */
export function selectTables({ specs, table, full, peers, growth }: TableSelection): BenchTable[] {
  const services = new Set(specs.map(({ service }) => service))
  // `--peers` and `--growth` exclude other tables, unless `--full` is given.
  const always = full || !(peers || growth)
  const when: Record<BenchTable['when'], boolean> = { always, named: always && services.size > 0, full, peers, growth }
  const names = table?.split(',')
  const found = tables.filter((one) => {
    const isSelected = names
      ? names.some((name) => name === one.name || name === `${one.service}/${one.name}`)
      : when[one.when]
    return isSelected && (services.size === 0 || services.has(one.service))
  })
  if (found.length > 0) return found
  throw new Error(`there is no such table${services.size > 0 ? ` of ${[...services].join(', ')}` : ''}`)
}
