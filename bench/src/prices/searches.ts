import { drawn, type Drawer } from '../load/requests/request-bytes.ts'
import { GROWN, SAMPLE, UNIFORM, type CatalogPlan } from './catalogs.ts'
import { KnownCatalog } from './known-catalog.ts'

/** The names of the indexes, as `--indexes` takes them. */
export const INDEXES = ['map', 'map-first-match', 'roaring', 'roaring-offering', 'bitset'] as const
export type IndexName = (typeof INDEXES)[number]

/** The paths of an index; the default one has a name of its own in them. */
const inPath = (index: string) => (index === 'roaring-offering' ? 'bitmap' : index)
export const searchPath = (index: string): string => `/v1/search/${inPath(index)}/prices`
export const bulkPath = (index: string): string => `/v5/search/${inPath(index)}/bulk/prices`

const ID_END = '{"id":"99757a95-f758-499f-a170-bea93b2d8bcf'.length

/** Whether a body is the price of a row, whose value is its number. Only its id could be any. */
export function isPriceOf(row: number, spec: string): (body: Buffer) => boolean {
  const expected = Buffer.from(`","spec":"${spec}","value":${row},"currency":"USD"}`)
  return (body) => body.length === ID_END + expected.length && body.compare(expected, 0, expected.length, ID_END) === 0
}

/** Operators on a row's last characteristic that leave the same row: of the sample's two values of it, the row's. */
const OPERATORS = {
  not: (value: string) => ({ op: 'not', value: value === 'Included' ? 'Not Included' : 'Included' }),
  in: (value: string) => ({ op: 'in', value: [value, 'Unknown'] }),
  between: (value: string) => ({ op: 'between', value: [value, value] }),
}
export type OperatorName = keyof typeof OPERATORS

function withOperator(body: string, name: OperatorName): string {
  const request = JSON.parse(body)
  const { char, value } = request.charValues.pop()
  request.charValues.push({ char, ...OPERATORS[name](value) })
  return JSON.stringify(request)
}

/** Complete searches for random rows of a whole catalog; each reply must have the number of its row. */
const searchesOf = (
  plan: CatalogPlan,
  index: string,
  { constant = false, operator }: { readonly constant?: boolean; readonly operator?: OperatorName } = {},
): Drawer => {
  return (common, random) => {
    const catalog = new KnownCatalog(plan)
    const head = `POST ${searchPath(index)} HTTP/1.1\r\n${common}Content-Type: application/json\r\nContent-Length: `
    return () => {
      const row = Math.floor(random() * catalog.size)
      const usual = catalog.bodyOf(row)
      const body = operator ? withOperator(usual, operator) : usual
      const bytes = Buffer.from(`${head}${body.length}\r\n\r\n${body}`, 'latin1')
      return drawn(bytes, constant ? undefined : isPriceOf(row, catalog.specOf(row)))
    }
  }
}

const drawers = (plan: CatalogPlan, prefix: string) =>
  Object.fromEntries(INDEXES.map((index) => [`${prefix}-${index}`, searchesOf(plan, index)]))

/** `prices-bitset`, `prices-uniform-bitset` and so on; and one for a server with a constant reply. */
export const priceDrawers: Readonly<Record<string, Drawer>> = {
  ...drawers(SAMPLE, 'prices'),
  ...drawers(UNIFORM, 'prices-uniform'),
  ...Object.fromEntries(
    GROWN.map((offerings) => [`prices-of-${offerings}`, searchesOf({ kind: 'sample', offerings }, 'roaring-offering')]),
  ),
  'prices-not': searchesOf(SAMPLE, 'roaring-offering', { operator: 'not' }),
  'prices-in': searchesOf(SAMPLE, 'roaring-offering', { operator: 'in' }),
  'prices-between': searchesOf(SAMPLE, 'roaring-offering', { operator: 'between' }),
  'prices-constant': searchesOf(SAMPLE, 'roaring-offering', { constant: true }),
}
