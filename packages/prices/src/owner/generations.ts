import { StartError } from '@influencer-stats/runtime/errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel } from 'classic-level'
import type { FastifyBaseLogger } from 'fastify'
import { AnswerBlock, blockOf, PAGE_BYTES, PAGE_ROWS, pageOf, sharedBlock, type AnswerKind } from '../core/answers.ts'
import { AnswerKinds, type Draft } from '../core/draft.ts'
import { RowTable } from '../core/rows.ts'
import { Terms, type Term } from '../core/terms.ts'
import { FORMAT } from '../database.ts'
import { answersKey, generationPrefix, kindKey, META, rowsKey, termKey } from '../page-store.ts'

/** Which generation counts, and how much there is of it. */
export interface Meta {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  readonly kinds: number
  /** The one before it, as it was when this one took its place: kept until the next one does. */
  readonly previous?: Omit<Meta, 'previous'> | undefined
}

/** No catalog at all. */
export const NO_META: Meta = { generation: 0, rows: 0, terms: 0, kinds: 0 }

/** A whole catalog as it was read. */
export interface Loaded {
  readonly meta: Meta
  readonly terms: Terms
  readonly kinds: AnswerKinds
  readonly table: RowTable
  readonly blocks: AnswerBlock[]
}

/** What a change of single prices writes. */
export interface Written {
  readonly meta: Meta
  /** New ones, and how many there were before. */
  readonly terms: readonly Term[]
  readonly firstTerm: number
  readonly kinds: readonly AnswerKind[]
  readonly firstKind: number
  /** By the number of the page. */
  readonly answers: ReadonlyMap<number, Uint8Array>
  readonly rows: ReadonlyMap<number, Uint8Array>
}

interface Put {
  readonly type: 'put'
  readonly key: string
  readonly value: string | Uint8Array
  readonly valueEncoding: 'utf8' | 'view'
}

export type Log = Pick<FastifyBaseLogger, 'error'>

const PUTS_A_BATCH = 2_048
/** So many pages are read at once, and bytes at most. */
const PAGES_AT_ONCE = 256
const BYTES_AT_ONCE = 262_144
const OLDEST = generationPrefix(0)

const put = (key: string, value: string | Uint8Array): Put => ({
  type: 'put',
  key,
  value,
  valueEncoding: typeof value === 'string' ? 'utf8' : 'view',
})
const putText = (key: string, value: unknown) => put(key, JSON.stringify(value))
const damaged = (cause: unknown) =>
  new StartError('DATA_DAMAGED', `prices: the catalog cannot be read (${(cause as Error).message})`)
const textOf = (meta: Meta) => JSON.stringify({ ...meta, format: FORMAT })

/** Catalogs in LevelDB, each a generation; the one that `meta` names counts. */
export class Generations {
  readonly #level: SharedLevel
  readonly #db: ClassicLevel
  readonly #log: Log

  constructor(level: SharedLevel, log: Log) {
    this.#level = level
    this.#db = level.db
    this.#log = log
  }

  /**
   * Reads the catalog that counts; one that is not all there gives way to the one before it. Nothing where there never was one.
   * @throws StartError `DATA_DAMAGED`
   */
  async load(): Promise<Loaded | undefined> {
    const text = await this.#db.get(META)
    if (text === undefined) return undefined
    const meta: Meta = JSON.parse(text)
    try {
      return await this.#load(meta)
    } catch (error) {
      const { generation, previous } = meta
      if (!previous) throw damaged(error)
      this.#log.error(
        { err: error },
        `prices: catalog ${generation} cannot be read; ${previous.generation} counts again`,
      )
      return await this.#load(previous).catch((worse: unknown) => {
        throw damaged(worse)
      })
    }
  }

  async #load(meta: Meta): Promise<Loaded> {
    const { generation, rows } = meta
    const terms = new Terms(await this.#texts(generation, 't', meta.terms))
    const kinds = new AnswerKinds(await this.#texts(generation, 'k', meta.kinds))
    const table = new RowTable(rows + 1)
    const blocks: AnswerBlock[] = []
    await this.#eachPage(generation, rowsKey, rows, (bytes) => table.decode(bytes))
    await this.#eachPage(generation, answersKey, rows, (bytes, page) => {
      const first = page * PAGE_ROWS
      const block = (blocks[blockOf(first)] ??= new AnswerBlock(sharedBlock()))
      block.page(page).set(bytes)
    })
    if (table.size !== rows) throw new Error(`generation ${generation} has ${table.size} rows of ${rows}`)
    return { meta: { ...meta, terms: terms.list.length, kinds: kinds.list.length }, terms, kinds, table, blocks }
  }

  /** A page of answers. */
  answers(generation: number, page: number): Uint8Array {
    return this.#read(answersKey(generation, page))
  }

  /** A page of rows. */
  rows(generation: number, page: number): RowTable {
    const table = new RowTable(PAGE_ROWS, PAGE_BYTES)
    table.decode(this.#read(rowsKey(generation, page)))
    return table
  }

  /** Writes a change, synced to disk: all of it or nothing. */
  async write({ meta, terms, firstTerm, kinds, firstKind, answers, rows }: Written): Promise<void> {
    const { generation } = meta
    const batch = [put(META, textOf(meta))]
    terms.forEach((term, i) => batch.push(putText(termKey(generation, firstTerm + i), term)))
    kinds.forEach((kind, i) => batch.push(putText(kindKey(generation, firstKind + i), kind)))
    for (const [page, bytes] of answers) batch.push(put(answersKey(generation, page), bytes))
    for (const [page, bytes] of rows) batch.push(put(rowsKey(generation, page), bytes))
    await this.#write(batch)
  }

  /**
   * Writes a whole catalog after `previous`. It counts from the moment `meta` names it, which is the last thing written. All
   * of it is synced before: one sync at the end would say nothing of what lies in files of LevelDB's log that were full.
   */
  async writeAll(draft: Draft, table: RowTable, { previous: _older, ...previous }: Meta): Promise<Meta> {
    const generation = previous.generation + 1
    // Left by a process that ended in the middle of this.
    await this.#clear(generationPrefix(generation), `${generationPrefix(generation)}~`)
    let batch: Put[] = []
    for (const one of putsOf(generation, draft, table)) {
      if (batch.push(one) < PUTS_A_BATCH) continue
      await this.#write(batch)
      batch = []
    }
    await this.#write(batch)
    const meta: Meta = {
      generation,
      rows: table.size,
      terms: draft.terms.list.length,
      kinds: draft.kinds.list.length,
      // One without a price is nothing to fall back to.
      ...(previous.rows > 0 && { previous }),
    }
    await this.#write([put(META, textOf(meta))])
    return meta
  }

  /** Gives back the room of all that is older than what is kept. */
  async clearOlder({ generation, previous }: Meta): Promise<void> {
    const end = generationPrefix(previous?.generation ?? generation)
    await this.#clear(OLDEST, end)
    // Else LevelDB would find no reason to: what is cleared is not touched again.
    await this.#db.compactRange(OLDEST, end)
  }

  #clear(from: string, end: string): Promise<void> {
    return this.#level.write((db) => db.clear({ gte: from, lt: end }))
  }

  /** Synced to disk: all of it or nothing. */
  #write(batch: readonly Put[]): Promise<void> {
    return this.#level.write((db) => db.batch(batch as never, { sync: true }))
  }

  /** @param count how many there have to be; nothing where an older version did not say */
  async #texts(generation: number, what: string, count: number | undefined): Promise<any[]> {
    const prefix = generationPrefix(generation) + what
    const texts = await this.#db.values({ gte: `${prefix}!`, lt: `${prefix}~`, limit: count ?? -1 }).all()
    if (count !== undefined && texts.length !== count)
      throw new Error(`${prefix} has ${texts.length} texts of ${count}`)
    return texts.map((text) => JSON.parse(text))
  }

  /** The pages of so many rows, one after the other. */
  async #eachPage(
    generation: number,
    keyOf: typeof rowsKey,
    rows: number,
    take: (bytes: Uint8Array, page: number) => void,
  ): Promise<void> {
    const pages = pageOf(rows + PAGE_ROWS - 1)
    const range = { gte: keyOf(generation, 0), lt: keyOf(generation, pages) }
    const options = { valueEncoding: 'view', fillCache: false, highWaterMarkBytes: BYTES_AT_ONCE } as const
    const iterator = this.#db.iterator<string, Uint8Array>({ ...range, ...options })
    try {
      let page = 0
      for (let some; (some = await iterator.nextv(PAGES_AT_ONCE)).length > 0;)
        for (const [key, bytes] of some) {
          if (key !== keyOf(generation, page)) throw new Error(`${keyOf(generation, page)} is missing`)
          take(bytes, page++)
        }
      if (page < pages) throw new Error(`${keyOf(generation, page)} is missing`)
    } finally {
      await iterator.close()
    }
  }

  #read(key: string): Uint8Array {
    const found = this.#db.getSync<string, Uint8Array>(key, { valueEncoding: 'view' })
    if (!found) throw new Error(`${key} is missing`)
    return found
  }
}

/** All that a catalog is written as, but for `meta`. */
function* putsOf(generation: number, { terms, kinds, blocks }: Draft, table: RowTable): Generator<Put> {
  for (const [i, term] of terms.list.entries()) yield putText(termKey(generation, i), term)
  for (const [i, kind] of kinds.list.entries()) yield putText(kindKey(generation, i), kind)
  for (let row = 0; row < table.size; row += PAGE_ROWS) {
    const page = pageOf(row)
    yield put(answersKey(generation, page), blocks[blockOf(row)]!.page(page))
    yield put(rowsKey(generation, page), table.encode(row, Math.min(table.size, row + PAGE_ROWS)))
  }
}
