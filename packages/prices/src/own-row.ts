import { StartError } from '@influencer-stats/runtime/errors'
import type { OwnRow } from '@influencer-stats/runtime/own-row'
import type { ClassicLevel } from 'classic-level'
import { PAGE_ROWS } from './core/answers.ts'
import { RowTable } from './core/rows.ts'
import { answersKey, generationPrefix, META, rowsKey } from './page-store.ts'

type Db = ClassicLevel<Buffer, Buffer>

/** Number and size of a catalog, as in `meta`. */
interface CatalogSize {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  readonly kinds: number
}

const NOTHING: CatalogSize = { generation: 0, rows: 0, terms: 0, kinds: 0 }
/** Maximum number of catalogs: the one in use, the previous one, and an incomplete one. */
const MAX_GENERATIONS = 3

/** Row with the number and the size of the catalog in use. */
export const ownRow: OwnRow = {
  key: Buffer.from(META),
  since: 1,
  first: JSON.stringify(NOTHING),
  async rebuild(db) {
    const found: CatalogSize[] = []
    for (const generation of await generationsIn(db)) {
      const size = await sizeOf(db, generation)
      if (size) found.push(size)
    }
    const newest = found.slice(found.length >= MAX_GENERATIONS ? 1 : 0)
    const [counts, previous] = newest
    if (!counts)
      throw new StartError('DATA_DAMAGED', 'prices: no catalog is whole: restore a backup, or move the folder away')
    const meta = { ...counts, ...(previous && { previous }) }
    await db.put(Buffer.from(META), Buffer.from(JSON.stringify(meta)), { sync: true })
    const other = previous ? `; if an import was cut off shortly before, catalog ${previous.generation} was in use` : ''
    return [
      `the number of the catalog in use: it is catalog ${counts.generation} now, with ${counts.rows} rows${other}`,
    ]
  },
}

/** Returns the numbers of all catalogs, newest first. */
async function generationsIn(db: Db): Promise<number[]> {
  const found: number[] = []
  for (let end = 'h'; ;) {
    const [key] = await db.keys({ gte: Buffer.from('g'), lt: Buffer.from(end), reverse: true, limit: 1 }).all()
    if (!key) return found
    const generation = Number.parseInt(key.toString('latin1', 1), 10)
    found.push(generation)
    end = generationPrefix(generation)
  }
}

/** Returns the size of a catalog; `undefined` if pages or texts of it are missing. */
async function sizeOf(db: Db, generation: number): Promise<CatalogSize | undefined> {
  const terms = await countOf(db, generation, 't')
  const kinds = await countOf(db, generation, 'k')
  let rows = 0
  for (let page = 0; ; page++) {
    const bytes = await db.get(Buffer.from(rowsKey(generation, page)))
    const hasAnswers = (await db.get(Buffer.from(answersKey(generation, page)))) !== undefined
    if ((bytes !== undefined) !== hasAnswers || (bytes && rows % PAGE_ROWS !== 0)) return undefined
    if (!bytes) break
    const table = new RowTable(PAGE_ROWS, 1)
    table.decode(bytes)
    rows += table.size
  }
  return rows > 0 && terms !== undefined && kinds !== undefined ? { generation, rows, terms, kinds } : undefined
}

/** Counts the texts of a kind; `undefined` if one is missing between them. */
async function countOf(db: Db, generation: number, what: string): Promise<number | undefined> {
  const prefix = `${generationPrefix(generation)}${what}!`
  let count = 0
  const keys = db.keys({ gte: Buffer.from(prefix), lt: Buffer.from(`${prefix}~`), fillCache: false })
  for await (const key of keys) if (Number(key.toString('latin1', prefix.length)) !== count++) return undefined
  return count
}
