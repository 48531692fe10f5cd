import { getTotalCost, type Campaign } from '../../core/campaign.ts'
import { periods, type GrowthByPeriod, type Period } from '../../core/growth.ts'
import type { KnownSummary } from '../../core/prepared-reply.ts'

/** A collection with the data that an overview uses. */
export interface OverviewRow<C extends NamedCollection = NamedCollection> {
  readonly collection: C
  /** Absent while there are no numbers. */
  readonly known?: KnownSummary | undefined
  /** Growth, if it is requested and there is a history. */
  readonly change?: GrowthByPeriod | undefined
}

interface NamedCollection extends Campaign {
  readonly id: string
}

const NUMBER_ORDERS = ['impressions', 'engagements', 'score'] as const
const ORDER_NAMES = ['id', 'name', ...NUMBER_ORDERS, 'rate', 'asOf', 'from', 'cost', ...periods] as const

/**
 * Orders of collections; with `-` the largest value comes first. The name of a period is the order by the growth of
 * impressions in it.
 */
export const SORTS = ORDER_NAMES.flatMap((order) => [order, `-${order}`] as const)
export type Sort = (typeof SORTS)[number]

export interface OverviewFilter {
  /** Words that all occur in the id, the name or the tags. */
  readonly q?: string | undefined
  readonly tag?: string | undefined
  /** True for the archive only, false without it; by default both. */
  readonly isArchived?: boolean | undefined
}

type SortValue = number | string | undefined

/** Position of a row in an order. */
export type RowPosition = readonly [value: SortValue, id: string]

export const isPeriodSort = (sort: Sort): boolean => periods.includes(getOrderName(sort) as Period)

const getOrderName = (sort: string) => sort.replace('-', '') as (typeof ORDER_NAMES)[number]

/** Returns the value by which a row is ordered. Rows without a value come last. */
export function getSortValue({ collection, known, change }: OverviewRow, sort: Sort): SortValue {
  const name = getOrderName(sort)
  switch (name) {
    case 'id':
    case 'name':
    case 'from':
      return collection[name]
    case 'cost':
      return getTotalCost(collection)
    case 'rate':
      return known && known.summary.impressions > 0 ? known.summary.engagements / known.summary.impressions : undefined
    case 'asOf':
    case 'impressions':
    case 'engagements':
    case 'score':
      return known?.summary[name]
    default:
      return change?.[name].impressions
  }
}

const nameCollator = new Intl.Collator('en', { numeric: true })

/** Compares positions by their value, then by their id. @param sort an order of collections or of creators */
export function createComparator(sort: string): (a: RowPosition, b: RowPosition) => number {
  const sign = sort.startsWith('-') ? -1 : 1
  const compare = getOrderName(sort) === 'name' ? nameCollator.compare : compareValues
  return ([a, idOfA], [b, idOfB]) => {
    if (a === undefined || b === undefined) {
      if (a !== b) return a === undefined ? 1 : -1
    } else if (a !== b) {
      const order = compare(a as never, b as never)
      if (order !== 0) return sign * order
    }
    return compareValues(idOfA, idOfB)
  }
}

function compareValues<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Returns a text in the form in which words are searched. */
export const foldText = (text: string): string => text.normalize('NFKD').toLowerCase()

/** Returns the words of a query, each in the form of `foldText`. */
export const toSearchWords = (q: string | undefined): string[] =>
  q === undefined ? [] : foldText(q).split(/\s+/).filter(Boolean)

/** The text of each collection in which words are searched: normalized and in lower case, built once per collection. */
const searchTexts = new WeakMap<NamedCollection, string>()

function getSearchText(collection: NamedCollection): string {
  let text = searchTexts.get(collection)
  if (text === undefined) {
    text = foldText([collection.id, collection.name ?? '', ...(collection.tags ?? [])].join('\n'))
    searchTexts.set(collection, text)
  }
  return text
}

/** Returns the predicate that selects the requested collections. */
export function createFilter({ q, tag, isArchived }: OverviewFilter): (collection: NamedCollection) => boolean {
  const words = toSearchWords(q)
  return (collection) =>
    (isArchived === undefined || (collection.archived === true) === isArchived) &&
    (tag === undefined || collection.tags?.includes(tag) === true) &&
    words.every((word) => getSearchText(collection).includes(word))
}

/** Returns a position as a cursor for the client. In the order of ids the cursor is the id. */
export function toCursor(sort: string, [value, id]: RowPosition): string {
  if (getOrderName(sort) === 'id') return id
  return Buffer.from(JSON.stringify([value ?? null, id])).toString('base64url')
}

/** Returns the position of a cursor; undefined if the cursor is invalid in this order. */
export function parseCursor(sort: string, cursor: string): RowPosition | undefined {
  if (getOrderName(sort) === 'id') return [cursor, cursor]
  try {
    const [value, id, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isValue = value === null || typeof value === 'string' || typeof value === 'number'
    return isValue && typeof id === 'string' && more.length === 0 ? [value ?? undefined, id] : undefined
  } catch {
    return undefined
  }
}
