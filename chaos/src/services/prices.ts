import { createPricesClient, type Price } from '@influencer-stats/prices/client'
import { getUnits, type TestedService } from './tested-service.ts'

const SINGLES = 6
const WRITERS = 8
/** Sizes of imports: a small one is put one by one, a large one creates a new generation. */
const IMPORTS = [40, 2_100]
const SEARCHES_PER_REQUEST = 5_000

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Each price has unique characteristics. */
const priceOf = (id: string, value = 0): Price => ({
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
 * The prices service. Writer 0 imports; the others put and delete.
 * @param imports sizes of the imports, in turn: 30,000 prices fill LevelDB's log more than once
 */
export const createPricesService = (imports: readonly number[] = IMPORTS): TestedService => ({
  service: 'prices',
  settings: { sample: 'no' },
  writers: WRITERS,
  deletes: true,
  units: (writer) =>
    writer === 0
      ? imports.map((size, i) => ({ keys: Array.from({ length: size }, (_, j) => idOf((i + 1) * 100_000 + j)) }))
      : Array.from({ length: SINGLES }, (_, i) => ({ keys: [idOf(writer * 100 + i)] })),
  connect(url) {
    const client = createPricesClient(url)
    const ids = getUnits(this)
      .flat()
      .flatMap(({ keys }) => keys)

    /** Values of these prices, found by search. */
    async function search(some: readonly string[]): Promise<[string, number][]> {
      const body = some.map((id) => JSON.stringify({ ...priceOf(id), id, value: undefined })).join('\n')
      const headers = { 'content-type': 'application/x-ndjson' }
      const reply = await fetch(`${url}/v5/search/bitmap/bulk/prices`, { method: 'POST', headers, body })
      const lines = (await reply.text()).trim().split('\n')
      if (lines.length !== some.length)
        throw new Error(`${lines.length} answers for ${some.length} searches: ${lines.at(-1)}`)
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
          const lines = Array.from(contents, ([one, cost]) => JSON.stringify(priceOf(one, cost)))
          return client.import(
            (async function* () {
              yield Buffer.from(lines.join('\n'))
            })(),
          )
        }
        return value === undefined ? client.delete(id) : client.put(priceOf(id, value))
      },
      async read() {
        const found: [string, number][] = []
        for (let i = 0; i < ids.length; i += SEARCHES_PER_REQUEST)
          found.push(...(await search(ids.slice(i, i + SEARCHES_PER_REQUEST))))
        // By id, too: that uses another path than a search.
        const [first] = found
        if (first && (await client.get(first[0]))?.value !== first[1])
          throw new Error(`${first[0]} differs between GET by id and search`)
        return new Map(found)
      },
      close: async () => {},
    }
  },
})
