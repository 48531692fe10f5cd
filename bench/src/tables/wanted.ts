import type { Spec } from '../spec.ts'
import { tables } from './all.ts'
import type { Table } from './table.ts'

/** What can be asked for of the tables. */
export interface Asked {
  readonly specs: readonly Pick<Spec, 'service'>[]
  /** Names, a comma between. */
  readonly table?: string | undefined
  readonly full: boolean
  readonly peers: boolean
  readonly growth: boolean
}

/** The tables that are to be measured. @throws Error where there is none */
export function wantedTables({ specs, table, full, peers, growth }: Asked): Table[] {
  const services = new Set(specs.map(({ service }) => service))
  // Peers and growth stand alone, unless all is asked for.
  const always = full || !(peers || growth)
  const when: Record<Table['when'], boolean> = { always, named: always && services.size > 0, full, peers, growth }
  const names = table?.split(',')
  const found = tables.filter((one) => {
    const isAsked = names
      ? names.some((name) => name === one.name || name === `${one.service}/${one.name}`)
      : when[one.when]
    return isAsked && (services.size === 0 || services.has(one.service))
  })
  if (found.length > 0) return found
  throw new Error(`there is no such table${services.size > 0 ? ` of ${[...services].join(', ')}` : ''}`)
}
