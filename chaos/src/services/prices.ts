import { createPricesClient, type Price } from '@influencer-stats/prices/client'
import { getUnits, type TestedService } from './tested-service.ts'

/** Units of one price per writer. */
const SINGLES = 6
const WRITERS = 8
/** Sizes of imports (prices): up to 2,000 prices are stored as single puts; more create a new catalog generation. */
const IMPORTS = [40, 2_100]
const SEARCHES_PER_REQUEST = 5_000

const formatId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Creates a price, whose characteristics are unique. */
const createPrice = (id: string, value = 0): Price => ({
  id,
  offeringId: 'o',
  groupId: 'g',
  priceSpecId: 's',
  charValues: [
    { char: 'High', value: id.slice(0, -3) },
    { char: 'Low', value: id.slice(-3) },
  ],
  value,
})

/**
 * The service prices: a key is the id of a price, its number is the value of the price. Writer 0 imports prices; the
 * other writers put and delete single prices.
 * @param imports sizes of the imports (prices). The power-cut test adds 30,000, which fill LevelDB's log more than once
 */
export const createPricesService = (imports: readonly number[] = IMPORTS): TestedService => ({
  service: 'prices',
  settings: { sample: 'no' },
  writers: WRITERS,
  deletes: true,
  units: (writer) =>
    writer === 0
      ? imports.map((size, i) => ({ keys: Array.from({ length: size }, (_, j) => formatId((i + 1) * 100_000 + j)) }))
      : Array.from({ length: SINGLES }, (_, i) => ({ keys: [formatId(writer * 100 + i)] })),
  connect(url) {
    const client = createPricesClient(url)
    const ids = getUnits(this)
      .flat()
      .flatMap(({ keys }) => keys)

    /** Returns the ids and values of the prices that a search finds. */
    async function search(wanted: readonly string[]): Promise<[string, number][]> {
      const body = wanted.map((id) => JSON.stringify({ ...createPrice(id), id, value: undefined })).join('\n')
      const headers = { 'content-type': 'application/x-ndjson' }
      const reply = await fetch(`${url}/v5/search/bitmap/bulk/prices`, { method: 'POST', headers, body })
      const lines = (await reply.text()).trim().split('\n')
      if (lines.length !== wanted.length)
        throw new Error(`${lines.length} replies to ${wanted.length} searches: ${lines.at(-1)}`)
      return lines.flatMap((line): [string, number][] => {
        const { id, price, error } = JSON.parse(line)
        if (!price && !error.code.endsWith('_NOT_FOUND')) throw new Error(line)
        return price ? [[id, price.value]] : []
      })
    }

    return {
      async write(contents) {
        const [[id, value] = ['']] = contents
        if (contents.size > 1) {
          const lines = Array.from(contents, ([one, cost]) => JSON.stringify(createPrice(one, cost)))
          return client.import(
            (async function* () {
              yield Buffer.from(lines.join('\n'))
            })(),
          )
        }
        return value === undefined ? client.delete(id) : client.put(createPrice(id, value))
      },
      async read() {
        const found: [string, number][] = []
        for (let i = 0; i < ids.length; i += SEARCHES_PER_REQUEST)
          found.push(...(await search(ids.slice(i, i + SEARCHES_PER_REQUEST))))
        // Reads a price also by id, because that is another code path than a search.
        const [first] = found
        if (first && (await client.get(first[0]))?.value !== first[1])
          throw new Error(`GET by id and search return different values for ${first[0]}`)
        return new Map(found)
      },
      close: async () => {},
    }
  },
})
