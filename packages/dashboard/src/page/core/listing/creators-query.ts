import type { CreatorSort } from '@influencer-stats/stats/client'

/** The order and the search of the list of creators, as in the address. */
export interface CreatorsQuery {
  readonly sort: CreatorSort
  readonly q: string
}

const COLUMNS = [
  'name',
  'subscribers',
  'campaigns',
  'videos',
  'impressions',
  'engagements',
  'rate',
  'fee',
  'perThousandViews',
] satisfies CreatorSort[]
const SORTS: ReadonlySet<string> = new Set(COLUMNS.flatMap((column) => [column, `-${column}`]))
const DEFAULT_SORT: CreatorSort = '-impressions'

/** Reads the address. An invalid order is ignored. */
export function readCreatorsQuery(search: string): CreatorsQuery {
  const query = new URLSearchParams(search)
  const sort = query.get('sort') as CreatorSort
  return { sort: SORTS.has(sort) ? sort : DEFAULT_SORT, q: query.get('q') ?? '' }
}

export function writeCreatorsQuery({ sort, q }: CreatorsQuery): string {
  const query = new URLSearchParams({ ...(sort !== DEFAULT_SORT && { sort }), ...(q && { q }) }).toString()
  return query && `?${query}`
}
