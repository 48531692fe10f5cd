import type { Sort } from '@influencer-stats/stats/client'
import { updateSearch } from './time-ranges.ts'

/** The order and filters of the list of campaigns, as in the address. */
export interface HomeQuery {
  readonly sort: Sort
  readonly q: string
  readonly tag: string
  /** True for the archive. */
  readonly isArchive: boolean
}

/** An order and filters of the list of campaigns, with a name. */
export interface ViewContent {
  readonly name: string
  readonly sort?: string
  readonly q?: string
  readonly tag?: string
  readonly archived?: true
}

const COLUMNS = ['name', 'impressions', 'engagements', 'rate', '24h', 'asOf'] satisfies Sort[]
const SORTS: ReadonlySet<string> = new Set(COLUMNS.flatMap((column) => [column, `-${column}`]))
const DEFAULT_SORT: Sort = '-impressions'

/** Reads the address. An invalid order is ignored. */
export function readHomeQuery(search: string): HomeQuery {
  const query = new URLSearchParams(search)
  const sort = query.get('sort') as Sort
  return {
    sort: SORTS.has(sort) ? sort : DEFAULT_SORT,
    q: query.get('q') ?? '',
    tag: query.get('tag') ?? '',
    isArchive: query.get('archived') === 'true',
  }
}

export const writeHomeQuery = ({ sort, q, tag, isArchive }: HomeQuery): string =>
  updateSearch('', { sort: sort === DEFAULT_SORT ? '' : sort, q, tag, archived: isArchive ? 'true' : '' })

/** The order and filters of a saved view. An order of another version is ignored. */
export const readView = ({ sort = DEFAULT_SORT, q = '', tag = '', archived }: ViewContent): HomeQuery => ({
  sort: SORTS.has(sort) ? (sort as Sort) : DEFAULT_SORT,
  q,
  tag,
  isArchive: archived ?? false,
})

/** The parts of a saved view that differ from the list without filters. */
export const toViewContent = ({ sort, q, tag, isArchive }: HomeQuery): Omit<ViewContent, 'name'> => ({
  ...(sort !== DEFAULT_SORT && { sort }),
  ...(q && { q }),
  ...(tag && { tag }),
  ...(isArchive && { archived: true as const }),
})

/** The order after a click on a column: numbers descending, names ascending. A second click reverses the order. */
export function getNextSort(sort: Sort, column: string): Sort {
  const first = column === 'name' ? column : `-${column}`
  const second = column === 'name' ? `-${column}` : column
  return (sort === first ? second : first) as Sort
}
