import type { Sort } from '@influencer-stats/stats/client'

/** The order and filters of the list of campaigns, as in the address. */
export interface HomeQuery {
  readonly sort: Sort
  readonly q: string
  readonly tag: string
}

const SORTS: ReadonlySet<Sort> = new Set([
  'name',
  '-name',
  ...toBothOrders('impressions'),
  ...toBothOrders('engagements'),
  ...toBothOrders('rate'),
  ...toBothOrders('24h'),
  ...toBothOrders('asOf'),
] as const)

function toBothOrders<Name extends 'impressions' | 'engagements' | 'rate' | '24h' | 'asOf'>(name: Name) {
  return [name, `-${name}`] as const
}

export const DEFAULT_SORT: Sort = '-impressions'

/** Reads the address. An invalid order is ignored. */
export function readHomeQuery(search: string): HomeQuery {
  const query = new URLSearchParams(search)
  const sort = query.get('sort') as Sort
  return { sort: SORTS.has(sort) ? sort : DEFAULT_SORT, q: query.get('q') ?? '', tag: query.get('tag') ?? '' }
}

export function writeHomeQuery({ sort, q, tag }: HomeQuery): string {
  const query = new URLSearchParams()
  if (sort !== DEFAULT_SORT) query.set('sort', sort)
  if (q) query.set('q', q)
  if (tag) query.set('tag', tag)
  const text = query.toString()
  return text && `?${text}`
}

/** The order after a click on a column: numbers descending, names ascending. A second click reverses the order. */
export function getNextSort(sort: Sort, column: string): Sort {
  const first = column === 'name' ? column : `-${column}`
  const second = column === 'name' ? `-${column}` : column
  return (sort === first ? second : first) as Sort
}
