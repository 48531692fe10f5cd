import { createDrawnRequest, type Drawer } from './request-bytes.ts'
import { GROWTH_OFFERINGS, SAMPLE, UNIFORM, type CatalogPlan } from './catalogs.ts'
import { ExpectedCatalog } from './expected-catalog.ts'

/** Names of the indexes, as in `--indexes`. */
export const INDEXES = ['map', 'map-first-match', 'roaring', 'roaring-offering', 'bitset'] as const
export type IndexName = (typeof INDEXES)[number]

/** Returns the name of an index in paths, which differs for the default index. */
const toPathSegment = (index: string) => (index === 'roaring-offering' ? 'bitmap' : index)
export const getSearchPath = (index: string): string => `/v1/search/${toPathSegment(index)}/prices`
export const getBulkPath = (index: string): string => `/v5/search/${toPathSegment(index)}/bulk/prices`

const ID_END_OFFSET = '{"id":"99757a95-f758-499f-a170-bea93b2d8bcf'.length

/** Creates the check that a body is the price of a row. The value is the row number; the id is not checked. */
export function createPriceCheck(row: number, spec: string): (body: Buffer) => boolean {
  const expected = Buffer.from(`","spec":"${spec}","value":${row},"currency":"USD"}`)
  return (body) =>
    body.length === ID_END_OFFSET + expected.length && body.compare(expected, 0, expected.length, ID_END_OFFSET) === 0
}

/**
 * Conditions that match a row: on its last characteristic, which has two values in the sample, or for `between` on its
 * first one, whose values are numbers.
 */
const OPERATORS = {
  not: (value: string) => ({ op: 'not', value: value === 'Included' ? 'Not Included' : 'Included' }),
  in: (value: string) => ({ op: 'in', value: [value, 'Unknown'] }),
  between: (value: string) => ({ op: 'between', value: [value, value] }),
}
export type OperatorName = keyof typeof OPERATORS

function withOperator(body: string, name: OperatorName): string {
  const request = JSON.parse(body)
  const { char, value } = name === 'between' ? request.charValues.shift() : request.charValues.pop()
  request.charValues.push({ char, ...OPERATORS[name](value) })
  return JSON.stringify(request)
}

/** Creates searches for random rows of a catalog. A reply must contain the row number, unless `constant`. */
const createSearches = (
  plan: CatalogPlan,
  index: string,
  { constant = false, operator }: { readonly constant?: boolean; readonly operator?: OperatorName } = {},
): Drawer => {
  return (common, random) => {
    const catalog = new ExpectedCatalog(plan)
    const head = `POST ${getSearchPath(index)} HTTP/1.1\r\n${common}Content-Type: application/json\r\nContent-Length: `
    return () => {
      const row = Math.floor(random() * catalog.size)
      const usual = catalog.buildBody(row)
      const body = operator ? withOperator(usual, operator) : usual
      const bytes = Buffer.from(`${head}${body.length}\r\n\r\n${body}`, 'latin1')
      return createDrawnRequest(bytes, constant ? undefined : createPriceCheck(row, catalog.getSpec(row)))
    }
  }
}

const createDrawers = (plan: CatalogPlan, prefix: string) =>
  Object.fromEntries(INDEXES.map((index) => [`${prefix}-${index}`, createSearches(plan, index)]))

/** Drawers of searches: `prices-INDEX`, `prices-uniform-INDEX` and others; `prices-constant`: constant replies. */
export const priceDrawers: Readonly<Record<string, Drawer>> = {
  ...createDrawers(SAMPLE, 'prices'),
  ...createDrawers(UNIFORM, 'prices-uniform'),
  ...Object.fromEntries(
    GROWTH_OFFERINGS.map((offerings) => [
      `prices-of-${offerings}`,
      createSearches({ kind: 'sample', offerings }, 'roaring-offering'),
    ]),
  ),
  'prices-not': createSearches(SAMPLE, 'roaring-offering', { operator: 'not' }),
  'prices-in': createSearches(SAMPLE, 'roaring-offering', { operator: 'in' }),
  'prices-between': createSearches(SAMPLE, 'roaring-offering', { operator: 'between' }),
  'prices-constant': createSearches(SAMPLE, 'roaring-offering', { constant: true }),
}
