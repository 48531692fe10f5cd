import { StartError } from '@influencer-stats/runtime/errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel, Snapshot } from 'classic-level'
import type { FastifyBaseLogger } from 'fastify'
import { AnswerBlock, blockOf, PAGE_BYTES, PAGE_ROWS, pageOf, sharedBlock, type AnswerKind } from '../core/answers.ts'
import { AnswerKinds, type Draft } from '../core/draft.ts'
import { rowIn, RowTable, type Row } from '../core/rows.ts'
import { Terms, type Term } from '../core/terms.ts'
import { FORMAT } from '../database.ts'
import { yieldTurn } from '../turn.ts'
import { answersKey, generationPrefix, kindKey, META, rowsKey, STAGED, stagedKey, termKey } from '../page-store.ts'
import type { LogMark, OpenImport } from './log-mark.ts'

/** Which generation counts, and how much there is of it. */
export interface Meta {
  readonly generation: number
  readonly rows: number
  readonly terms: number
  readonly kinds: number
  /** Of a node of many. */
  readonly log?: LogMark | undefined
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
  readonly #snapshot: Snapshot | undefined

  constructor(level: SharedLevel, log: Log, snapshot?: Snapshot) {
    this.#level = level
    this.#db = level.db
    this.#log = log
    this.#snapshot = snapshot
  }

  /** The same as they are now, to be read; what is thrown away later lies on the disk until `close`. */
  freeze(): { readonly generations: Generations; close(): Promise<void> } {
    const snapshot = this.#db.snapshot()
    return { generations: new Generations(this.#level, this.#log, snapshot), close: () => snapshot.close() }
  }

  /**
   * Reads the catalog that counts; one that is not all there gives way to the one before it. Nothing where there never was one.
   * @throws StartError `DATA_DAMAGED`
   */
  async load(): Promise<Loaded | undefined> {
    const text = await this.#db.get(META)
    if (text === undefined) return undefined
    const meta: Meta = JSON.parse(text)
    // A new database, or one whose first catalog is incomplete.
    if (meta.generation === NO_META.generation) return undefined
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
    await this.eachPage(generation, rowsKey, rows, (bytes) => table.decode(bytes))
    await this.eachPage(generation, answersKey, rows, (bytes, page) => {
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

  /** A row that is there. */
  row(generation: number, row: number): Row {
    return rowIn(this.#read(rowsKey(generation, pageOf(row))), row % PAGE_ROWS)
  }

  /** Writes a change: all of it or nothing. */
  async write({ meta, terms, firstTerm, kinds, firstKind, answers, rows }: Written): Promise<void> {
    const { generation } = meta
    const batch = [put(META, textOf(meta))]
    terms.forEach((term, i) => batch.push(putText(termKey(generation, firstTerm + i), term)))
    kinds.forEach((kind, i) => batch.push(putText(kindKey(generation, firstKind + i), kind)))
    for (const [page, bytes] of answers) batch.push(put(answersKey(generation, page), bytes))
    for (const [page, bytes] of rows) batch.push(put(rowsKey(generation, page), bytes))
    await this.#write(batch, !meta.log)
  }

  /** Writes how far in the log it is, and a piece of an import. @param sync to disk, with all that was written before */
  async mark(meta: Meta, { piece, sync = false }: { piece?: Uint8Array | undefined; sync?: boolean }): Promise<void> {
    if (sync) await this.#level.flush()
    const { open } = meta.log!
    const staged = piece ? [put(stagedKey(open!.id, open!.pieces - 1), piece)] : []
    await this.#write([put(META, textOf(meta)), ...staged], sync)
  }

  /** The pieces of an import, in their order. @throws StartError `DATA_DAMAGED` */
  async *staged({ id, pieces }: OpenImport): AsyncGenerator<Uint8Array> {
    for (let piece = 0; piece < pieces; piece++) {
      const found = await this.#db.get<string, Uint8Array>(stagedKey(id, piece), { valueEncoding: 'view' })
      if (!found) throw damaged(new Error(`${stagedKey(id, piece)} is missing`))
      yield found
    }
  }

  /** Gives back the room of all pieces of imports. */
  async clearStaged(): Promise<void> {
    const [any] = await this.#db.keys({ ...STAGED, limit: 1 }).all()
    if (any === undefined) return
    await this.#level.write((db) => db.clear(STAGED))
    await this.#db.compactRange(STAGED.gte, STAGED.lt)
  }

  /**
   * Writes a whole catalog after `previous`. It counts from the moment `meta` names it, which is the last thing written. All
   * of it is synced before: one sync at the end would say nothing of what lies in files of LevelDB's log that were full.
   */
  async writeAll(draft: Draft, table: RowTable, { previous: _older, log, ...previous }: Meta): Promise<Meta> {
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
      // What falls back to nothing has it all in the log; and one without a price is nothing to fall back to.
      ...(log ? { log } : previous.rows > 0 && { previous }),
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

  /** All of it or nothing. What the log has need not be synced to disk. */
  #write(batch: readonly Put[], sync = true): Promise<void> {
    return this.#level.write((db) => db.batch(batch as never, { sync }))
  }

  /** @param count how many there have to be; nothing where an older version did not say */
  async #texts(generation: number, what: string, count: number | undefined): Promise<any[]> {
    const prefix = generationPrefix(generation) + what
    const texts = await this.#db.values({ gte: `${prefix}!`, lt: `${prefix}~`, limit: count ?? -1 }).all()
    if (count !== undefined && texts.length !== count)
      throw new Error(`${prefix} has ${texts.length} texts of ${count}`)
    return texts.map((text) => JSON.parse(text))
  }

  /** The pages of so many rows, one after the other; others have their turns meanwhile. */
  async eachPage(
    generation: number,
    keyOf: typeof rowsKey,
    rows: number,
    take: (bytes: Uint8Array, page: number) => void,
  ): Promise<void> {
    const pages = pageOf(rows + PAGE_ROWS - 1)
    const range = { gte: keyOf(generation, 0), lt: keyOf(generation, pages) }
    const options = { valueEncoding: 'view', fillCache: false, highWaterMarkBytes: BYTES_AT_ONCE } as const
    const snapshot = this.#snapshot
    const iterator = this.#db.iterator<string, Uint8Array>({ ...range, ...options, snapshot })
    try {
      let page = 0
      for (let some; (some = await iterator.nextv(PAGES_AT_ONCE)).length > 0;)
        for (const [key, bytes] of some) {
          if (key !== keyOf(generation, page)) throw new Error(`${keyOf(generation, page)} is missing`)
          take(bytes, page++)
          await yieldTurn()
        }
      if (page < pages) throw new Error(`${keyOf(generation, page)} is missing`)
    } finally {
      await iterator.close()
    }
  }

  #read(key: string): Uint8Array {
    const found = this.#db.getSync<string, Uint8Array>(key, {
      valueEncoding: 'view',
      snapshot: this.#snapshot,
    })
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
