import { StartError } from '@influencer-stats/runtime/errors'
import type { OwnRow } from '@influencer-stats/runtime/own-row'
import type { Level } from 'level'
import { PAGE_ROWS } from '../core/answer-block.ts'
import { RowTable } from '../core/row-table.ts'
import { toAnswersKey, toGenerationPrefix, META_KEY, toRowsKey } from './page-store.ts'

type PricesDb = Level<Buffer, Buffer>

/** Number and size of a catalog, as in `meta`. */
interface CatalogSize {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  readonly kinds: number
}

const EMPTY_CATALOG: CatalogSize = { generation: 0, rows: 0, terms: 0, kinds: 0 }
/** Maximum number of catalogs: the one in use, the previous one, and an incomplete one. */
const MAX_GENERATIONS = 3

/** The database row `meta`, with the number and the size of the catalog in use. */
export const ownRow: OwnRow = {
  key: Buffer.from(META_KEY),
  since: 1,
  first: JSON.stringify(EMPTY_CATALOG),
  async rebuild(db) {
    const found: CatalogSize[] = []
    for (const generation of await listGenerations(db)) {
      const size = await readCatalogSize(db, generation)
      if (size) found.push(size)
    }
    const newest = found.slice(found.length >= MAX_GENERATIONS ? 1 : 0)
    const [counts, previous] = newest
    if (!counts)
      throw new StartError('DATA_DAMAGED', 'prices: no catalog is complete: restore a backup, or move the folder')
    const meta = { ...counts, ...(previous && { previous }) }
    await db.put(Buffer.from(META_KEY), Buffer.from(JSON.stringify(meta)), { sync: true })
    const other = previous
      ? `; if an import was interrupted shortly before, catalog ${previous.generation} was in use`
      : ''
    return [`the number of the catalog in use: now catalog ${counts.generation}, with ${counts.rows} rows${other}`]
  },
}

/** Returns the numbers of all catalogs, newest first. */
async function listGenerations(db: PricesDb): Promise<number[]> {
  const found: number[] = []
  for (let end = 'h'; ;) {
    const [key] = await db.keys({ gte: Buffer.from('g'), lt: Buffer.from(end), reverse: true, limit: 1 }).all()
    if (!key) return found
    const generation = Number.parseInt(key.toString('latin1', 1), 10)
    found.push(generation)
    end = toGenerationPrefix(generation)
  }
}

/** Returns the size of a catalog; `undefined` if it has no rows, or if pages or texts of it are missing. */
async function readCatalogSize(db: PricesDb, generation: number): Promise<CatalogSize | undefined> {
  const terms = await countTexts(db, generation, 't')
  const kinds = await countTexts(db, generation, 'k')
  let rows = 0
  for (let page = 0; ; page++) {
    const bytes = await db.get(Buffer.from(toRowsKey(generation, page)))
    const hasAnswers = (await db.get(Buffer.from(toAnswersKey(generation, page)))) !== undefined
    if ((bytes !== undefined) !== hasAnswers || (bytes && rows % PAGE_ROWS !== 0)) return undefined
    if (!bytes) break
    const table = new RowTable(PAGE_ROWS, 1)
    table.decode(bytes)
    rows += table.size
  }
  return rows > 0 && terms !== undefined && kinds !== undefined ? { generation, rows, terms, kinds } : undefined
}

/** Counts the terms (`t`) or the answer kinds (`k`) of a catalog; `undefined` if there is a gap in their numbers. */
async function countTexts(db: PricesDb, generation: number, kind: string): Promise<number | undefined> {
  const prefix = `${toGenerationPrefix(generation)}${kind}!`
  let count = 0
  const keys = db.keys({ gte: Buffer.from(prefix), lt: Buffer.from(`${prefix}~`), fillCache: false })
  for await (const key of keys) if (Number(key.toString('latin1', prefix.length)) !== count++) return undefined
  return count
}
