/** A value of a characteristic that a search requires. */
export type CharValue = string | number | boolean

/** The conditions of a price search and the state of its screen, as in the address. */
export interface PriceQuery {
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  /** Required values of characteristics, in their own types. */
  readonly chars: Readonly<Record<string, CharValue>>
  /** When the price must be valid: a date, a time in UTC such as 2026-01-31T17:00Z, `ANY_TIME`, or '' for today. */
  readonly at: string
  readonly currency: string
  /** Id of the price that was chosen among several. */
  readonly price: string
  /** Order of the values in lists. */
  readonly order: 'name' | 'count'
}

export const ANY_TIME = 'any'
const TIME_PATTERN = /^\d{4}-\d\d-\d\d(T\d\d:\d\dZ)?$/
const CURRENCY_PATTERN = /^[A-Z]{3}$/

/** The parameters of characteristics: their prefix states the type of the value. */
const CHAR_TYPES = {
  'char.': { type: 'string', parse: (text: string) => text },
  'number.': {
    type: 'number',
    parse: (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  },
  'boolean.': { type: 'boolean', parse: (text: string) => ({ true: true, false: false })[text] },
} as const
const PREFIXES = Object.keys(CHAR_TYPES) as (keyof typeof CHAR_TYPES)[]

export function readPriceQuery(search: string): PriceQuery {
  const query = new URLSearchParams(search)
  const chars: Record<string, CharValue> = {}
  for (const [name, text] of query) {
    const prefix = PREFIXES.find((one) => name.startsWith(one))
    const value = prefix && CHAR_TYPES[prefix].parse(text)
    if (value !== undefined) chars[name.slice(prefix!.length)] = value
  }
  const get = (name: string) => query.get(name) ?? ''
  const at = get('at')
  const isTime = at === ANY_TIME || (TIME_PATTERN.test(at) && !Number.isNaN(Date.parse(at)))
  return {
    offeringId: get('offering'),
    groupId: get('group'),
    priceSpecId: get('spec'),
    chars,
    at: isTime ? at : '',
    currency: CURRENCY_PATTERN.test(get('currency')) ? get('currency') : '',
    price: get('price'),
    order: get('order') === 'count' ? 'count' : 'name',
  }
}

export function writePriceQuery({ offeringId, groupId, priceSpecId, chars, ...rest }: PriceQuery): string {
  const query = new URLSearchParams()
  const { at, currency, price, order } = rest
  const named = { offering: offeringId, group: groupId, spec: priceSpecId, at, currency, price }
  for (const [name, value] of Object.entries(named)) if (value) query.set(name, value)
  if (order !== 'name') query.set('order', order)
  for (const [name, value] of Object.entries(chars))
    query.set(PREFIXES.find((prefix) => CHAR_TYPES[prefix].type === typeof value) + name, String(value))
  const text = query.toString()
  return text && `?${text}`
}

/** The conditions of the selection in a request to prices. @param today used unless the selection has another time */
export function toConditions({ chars, at, ...query }: PriceQuery, today: string) {
  const { offeringId, groupId, priceSpecId, currency } = query
  const texts = { offeringId, groupId, priceSpecId, at: at === ANY_TIME ? '' : at || today, currency }
  const chosen = Object.entries(texts).filter(([, value]) => value)
  return {
    ...(Object.fromEntries(chosen) as Partial<typeof texts>),
    charValues: Object.entries(chars).map(([char, value]) => ({ char, value })),
  }
}

/** The query of `GET /facets` for the current selection. @param options parameters that are no conditions */
export function toFacetsQuery(
  { charValues, ...texts }: ReturnType<typeof toConditions>,
  options: Readonly<Record<string, string | undefined>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...texts, ...options })) if (value) query.set(name, value)
  if (charValues.length > 0) query.set('charValues', JSON.stringify(charValues))
  return query.toString()
}
