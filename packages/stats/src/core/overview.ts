import type { Campaign } from './campaign.ts'
import { periods, type Change, type Period } from './change.ts'
import type { Known } from './prepared.ts'

/** What an overview knows of a collection. */
export interface Row<C extends Named = Named> {
  readonly collection: C
  /** Nothing as long as there are no numbers. */
  readonly known?: Known | undefined
  /** Its growth, if that is requested and there is a history. */
  readonly change?: Change | undefined
}

interface Named extends Campaign {
  readonly id: string
}

const BY_NUMBERS = ['impressions', 'engagements', 'score'] as const
const ORDERS = ['id', 'name', ...BY_NUMBERS, 'rate', 'asOf', 'from', 'cost', ...periods] as const

/** What collections can be put in order by; with `-` the largest comes first. */
export const SORTS = ORDERS.flatMap((order) => [order, `-${order}`] as const)
export type Sort = (typeof SORTS)[number]

export interface Filter {
  /** Words that are all in its id, its name or its tags. */
  readonly q?: string | undefined
  readonly tag?: string | undefined
}

type Value = number | string | undefined

/** Where a row stands in an order. */
export type Place = readonly [value: Value, id: string]

export const isOfPeriod = (sort: Sort): boolean => periods.includes(nameOf(sort) as Period)

const nameOf = (sort: Sort) => sort.replace('-', '') as (typeof ORDERS)[number]

/** What a row is put in order by; nothing where it has none, which comes last. */
export function valueOf({ collection, known, change }: Row, sort: Sort): Value {
  const name = nameOf(sort)
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

const names = new Intl.Collator('en', { numeric: true })

/** What puts places in an order: by the value, then by the id. */
export function orderOf(sort: Sort): (a: Place, b: Place) => number {
  const sign = sort.startsWith('-') ? -1 : 1
  const compare = nameOf(sort) === 'name' ? names.compare : plain
  return ([a, idOfA], [b, idOfB]) => {
    if (a === undefined || b === undefined) {
      if (a !== b) return a === undefined ? 1 : -1
    } else if (a !== b) {
      const order = compare(a as never, b as never)
      if (order !== 0) return sign * order
    }
    return plain(idOfA, idOfB)
  }
}

function plain<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

const folded = (text: string) => text.normalize('NFKD').toLowerCase()

/** Texts of collections, folded once. */
const texts = new WeakMap<Named, string>()

function textOf(collection: Named): string {
  let text = texts.get(collection)
  if (text === undefined) {
    text = folded([collection.id, collection.name ?? '', ...(collection.tags ?? [])].join('\n'))
    texts.set(collection, text)
  }
  return text
}

/** What tells the collections that are asked for. */
export function filterOf({ q, tag }: Filter): (collection: Named) => boolean {
  const words = q === undefined ? [] : folded(q).split(/\s+/).filter(Boolean)
  return (collection) =>
    (tag === undefined || collection.tags?.includes(tag) === true) &&
    words.every((word) => textOf(collection).includes(word))
}

/** The first rows in an order, out of any number that are offered. */
export class Selection<R extends Row> {
  readonly #sort: Sort
  readonly #limit: number
  readonly #after: Place | undefined
  readonly #compare: (a: Place, b: Place) => number
  readonly #chosen: { place: Place; row: R }[] = []

  /** @param after where the page before ended */
  constructor(sort: Sort, limit: number, after: Place | undefined) {
    this.#sort = sort
    this.#limit = limit
    this.#after = after
    this.#compare = orderOf(sort)
  }

  offer(row: R): void {
    const place: Place = [valueOf(row, this.#sort), row.collection.id]
    if (this.#after && this.#compare(place, this.#after) <= 0) return
    const chosen = this.#chosen
    // One more than the page has: whether there is another page.
    const isFull = chosen.length > this.#limit
    if (isFull && this.#compare(place, chosen.at(-1)!.place) >= 0) return
    let [low, high] = [0, chosen.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(place, chosen[middle]!.place) < 0) high = middle
      else low = middle + 1
    }
    chosen.splice(low, 0, { place, row })
    if (isFull) chosen.pop()
  }

  /** The page, and where it ends if there is another. */
  page(): { rows: R[]; end?: Place } {
    const page = this.#chosen.slice(0, this.#limit)
    const isLast = this.#chosen.length <= this.#limit
    return { rows: page.map(({ row }) => row), ...(!isLast && { end: page.at(-1)!.place }) }
  }
}

/** A place as the client gives it back. That in the order of ids is the id. */
export function toCursor(sort: Sort, [value, id]: Place): string {
  if (nameOf(sort) === 'id') return id
  return Buffer.from(JSON.stringify([value ?? null, id])).toString('base64url')
}

/** Nothing where it is no place in this order. */
export function fromCursor(sort: Sort, cursor: string): Place | undefined {
  if (nameOf(sort) === 'id') return [cursor, cursor]
  try {
    const [value, id, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isValue = value === null || typeof value === 'string' || typeof value === 'number'
    return isValue && typeof id === 'string' && more.length === 0 ? [value ?? undefined, id] : undefined
  } catch {
    return undefined
  }
}
