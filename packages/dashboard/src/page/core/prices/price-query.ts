/** The conditions of a price search, as in the address. */
export interface PriceQuery {
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  /** Required values of characteristics, in their own types. */
  readonly chars: Readonly<Record<string, string | number>>
}

const CHAR_PREFIX = 'char.'
/** Prefix that distinguishes numbers from texts with the same digits. */
const NUMBER_PREFIX = 'number.'

export function readPriceQuery(search: string): PriceQuery {
  const query = new URLSearchParams(search)
  const chars: Record<string, string | number> = {}
  for (const [name, value] of query) {
    if (name.startsWith(CHAR_PREFIX)) chars[name.slice(CHAR_PREFIX.length)] = value
    else if (name.startsWith(NUMBER_PREFIX) && Number.isSafeInteger(Number(value)))
      chars[name.slice(NUMBER_PREFIX.length)] = Number(value)
  }
  const text = (name: string) => query.get(name) ?? ''
  return { offeringId: text('offering'), groupId: text('group'), priceSpecId: text('spec'), chars }
}

export function writePriceQuery({ offeringId, groupId, priceSpecId, chars }: PriceQuery): string {
  const query = new URLSearchParams()
  if (offeringId) query.set('offering', offeringId)
  if (groupId) query.set('group', groupId)
  if (priceSpecId) query.set('spec', priceSpecId)
  for (const [name, value] of Object.entries(chars))
    query.set((typeof value === 'number' ? NUMBER_PREFIX : CHAR_PREFIX) + name, String(value))
  const text = query.toString()
  return text && `?${text}`
}

const toConditions = ({ chars }: PriceQuery) => Object.entries(chars).map(([char, value]) => ({ char, value }))

/** The query of `GET /facets` for the current selection. */
export function toFacetsQuery(chosen: PriceQuery): string {
  const { offeringId, groupId, priceSpecId } = chosen
  const query = new URLSearchParams({ limit: '200' })
  for (const [name, value] of Object.entries({ offeringId, groupId, priceSpecId })) if (value) query.set(name, value)
  if (Object.keys(chosen.chars).length > 0) query.set('charValues', JSON.stringify(toConditions(chosen)))
  return query.toString()
}

/** The body of a search. Undefined if the selection is not sufficient for a search. */
export function toSearch(chosen: PriceQuery): object | undefined {
  const { offeringId, groupId, priceSpecId } = chosen
  if (!offeringId || !groupId || !priceSpecId) return undefined
  return { offeringId, groupId, priceSpecId, charValues: toConditions(chosen), explain: true }
}
