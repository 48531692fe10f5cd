import { createComparator, foldText, toSearchWords, type RowPosition } from '../overview/overview-selection.ts'
import type { CreatorSummary } from './creator.ts'

const ORDER_NAMES = [
  'name',
  'subscribers',
  'campaigns',
  'videos',
  'impressions',
  'engagements',
  'score',
  'rate',
  'fee',
  'perThousandViews',
  'perEngagement',
] as const

/** Orders of creators; with `-` the largest value comes first. */
export const CREATOR_SORTS = ORDER_NAMES.flatMap((order) => [order, `-${order}`] as const)
export type CreatorSort = (typeof CREATOR_SORTS)[number]

/** Filter, order and page of a list of creators. */
export interface CreatorQuery {
  readonly sort: CreatorSort
  /** Words that all occur in the id, the title or the handle. */
  readonly q?: string | undefined
  readonly limit: number
  /** Position of the last row of the previous page. */
  readonly after?: RowPosition | undefined
}

export interface CreatorPage {
  readonly rows: readonly CreatorSummary[]
  /** Number of creators that match. */
  readonly total: number
  /** Position of the last row, if there is another page. */
  readonly end?: RowPosition
}

/** Returns the value by which a creator is ordered. Creators without a value come last. */
function getSortValue(creator: CreatorSummary, sort: CreatorSort): RowPosition[0] {
  const name = sort.replace('-', '') as (typeof ORDER_NAMES)[number]
  switch (name) {
    case 'name':
      return creator.title ?? creator.id
    case 'subscribers':
    case 'rate':
      return creator[name]
    case 'campaigns':
      return creator.campaignCount
    case 'fee':
      return creator.fees?.length === 1 ? creator.fees[0]!.amount : undefined
    case 'perThousandViews':
    case 'perEngagement':
      return creator.costs?.[name]
    default:
      return creator.stats[name]
  }
}

/** Returns the requested page of creators. */
export function selectCreators(
  creators: readonly CreatorSummary[],
  { sort, q, limit, after }: CreatorQuery,
): CreatorPage {
  const words = toSearchWords(q)
  const isMatch = ({ id, title = '', handle = '' }: CreatorSummary) => {
    const text = foldText(`${id}\n${title}\n${handle}`)
    return words.every((word) => text.includes(word))
  }
  const compare = createComparator(sort)
  const matching = words.length === 0 ? creators : creators.filter(isMatch)
  const positioned = matching.map((row) => ({ row, position: [getSortValue(row, sort), row.id] as RowPosition }))
  const following = positioned
    .filter(({ position }) => after === undefined || compare(position, after) > 0)
    .sort((a, b) => compare(a.position, b.position))
  const page = following.slice(0, limit)
  return {
    rows: page.map(({ row }) => row),
    total: matching.length,
    ...(following.length > limit && { end: page.at(-1)!.position }),
  }
}
