import type { Campaign } from './campaign.ts'
import { periods, type GrowthByPeriod, type Period } from './growth.ts'
import type { KnownSummary } from './prepared-reply.ts'

/** What an overview knows of a collection. */
export interface OverviewRow<C extends NamedCollection = NamedCollection> {
  readonly collection: C
  /** Nothing as long as there are no numbers. */
  readonly known?: KnownSummary | undefined
  /** Its growth, if that is requested and there is a history. */
  readonly change?: GrowthByPeriod | undefined
}

interface NamedCollection extends Campaign {
  readonly id: string
}

const NUMBER_ORDERS = ['impressions', 'engagements', 'score'] as const
const ORDER_NAMES = ['id', 'name', ...NUMBER_ORDERS, 'rate', 'asOf', 'from', 'cost', ...periods] as const

/** What collections can be put in order by; with `-` the largest comes first. */
export const SORTS = ORDER_NAMES.flatMap((order) => [order, `-${order}`] as const)
export type Sort = (typeof SORTS)[number]

export interface OverviewFilter {
  /** Words that are all in its id, its name or its tags. */
  readonly q?: string | undefined
  readonly tag?: string | undefined
}

type SortValue = number | string | undefined

/** Where a row stands in an order. */
export type RowPosition = readonly [value: SortValue, id: string]

export const isPeriodSort = (sort: Sort): boolean => periods.includes(getOrderName(sort) as Period)

const getOrderName = (sort: Sort) => sort.replace('-', '') as (typeof ORDER_NAMES)[number]

/** What a row is put in order by; nothing where it has none, which comes last. */
export function getSortValue({ collection, known, change }: OverviewRow, sort: Sort): SortValue {
  const name = getOrderName(sort)
  switch (name) {
    case 'id':
    case 'name':
    case 'from':
    case 'cost':
      return collection[name]
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

/** What puts places in an order: by the value, then by the id. */
export function createComparator(sort: Sort): (a: RowPosition, b: RowPosition) => number {
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

const foldText = (text: string) => text.normalize('NFKD').toLowerCase()

/** Texts of collections, folded once. */
const searchTexts = new WeakMap<NamedCollection, string>()

function getSearchText(collection: NamedCollection): string {
  let text = searchTexts.get(collection)
  if (text === undefined) {
    text = foldText([collection.id, collection.name ?? '', ...(collection.tags ?? [])].join('\n'))
    searchTexts.set(collection, text)
  }
  return text
}

/** What tells the collections that are asked for. */
export function createFilter({ q, tag }: OverviewFilter): (collection: NamedCollection) => boolean {
  const words = q === undefined ? [] : foldText(q).split(/\s+/).filter(Boolean)
  return (collection) =>
    (tag === undefined || collection.tags?.includes(tag) === true) &&
    words.every((word) => getSearchText(collection).includes(word))
}

/** The first rows in an order, out of any number that are offered. */
export class OverviewSelection<R extends OverviewRow> {
  readonly #sort: Sort
  readonly #limit: number
  readonly #after: RowPosition | undefined
  readonly #compare: (a: RowPosition, b: RowPosition) => number
  readonly #chosen: { position: RowPosition; row: R }[] = []

  /** @param after where the page before ended */
  constructor(sort: Sort, limit: number, after: RowPosition | undefined) {
    this.#sort = sort
    this.#limit = limit
    this.#after = after
    this.#compare = createComparator(sort)
  }

  offer(row: R): void {
    const position: RowPosition = [getSortValue(row, this.#sort), row.collection.id]
    if (this.#after && this.#compare(position, this.#after) <= 0) return
    const chosen = this.#chosen
    // One more than the page has: whether there is another page.
    const isFull = chosen.length > this.#limit
    if (isFull && this.#compare(position, chosen.at(-1)!.position) >= 0) return
    let [low, high] = [0, chosen.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(position, chosen[middle]!.position) < 0) high = middle
      else low = middle + 1
    }
    chosen.splice(low, 0, { position, row })
    if (isFull) chosen.pop()
  }

  /** The page, and where it ends if there is another. */
  getPage(): { rows: R[]; end?: RowPosition } {
    const page = this.#chosen.slice(0, this.#limit)
    const isLast = this.#chosen.length <= this.#limit
    return { rows: page.map(({ row }) => row), ...(!isLast && { end: page.at(-1)!.position }) }
  }
}

/** A place as the client gives it back. That in the order of ids is the id. */
export function toCursor(sort: Sort, [value, id]: RowPosition): string {
  if (getOrderName(sort) === 'id') return id
  return Buffer.from(JSON.stringify([value ?? null, id])).toString('base64url')
}

/** Nothing where it is no place in this order. */
export function parseCursor(sort: Sort, cursor: string): RowPosition | undefined {
  if (getOrderName(sort) === 'id') return [cursor, cursor]
  try {
    const [value, id, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isValue = value === null || typeof value === 'string' || typeof value === 'number'
    return isValue && typeof id === 'string' && more.length === 0 ? [value ?? undefined, id] : undefined
  } catch {
    return undefined
  }
}
