import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel } from 'classic-level'
import { answersKey, generationPrefix, kindKey, META, rowsKey, termKey } from '../block-store.ts'
import { AnswerBlock, BLOCK_BYTES, BLOCK_ROWS, sharedBlock, type AnswerKind } from '../core/answers.ts'
import { AnswerKinds, type Draft } from '../core/draft.ts'
import { RowTable } from '../core/rows.ts'
import { Terms, type Term } from '../core/terms.ts'
import { FORMAT } from '../database.ts'

/** Which generation counts, and how many rows it has. */
export interface Meta {
  readonly generation: number
  readonly rows: number
}

/** A whole catalog as it was read. */
export interface Loaded {
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
  readonly blocks: ReadonlyMap<number, { readonly answers: Uint8Array; readonly rows: Uint8Array }>
}

interface Put {
  readonly type: 'put'
  readonly key: string
  readonly value: string | Uint8Array
  readonly valueEncoding: 'utf8' | 'view'
}

const BLOCKS_A_BATCH = 64

const put = (key: string, value: string | Uint8Array): Put => ({
  type: 'put',
  key,
  value,
  valueEncoding: typeof value === 'string' ? 'utf8' : 'view',
})
const putText = (key: string, value: unknown) => put(key, JSON.stringify(value))
const textOf = (meta: Meta) => JSON.stringify({ ...meta, format: FORMAT })

/** Catalogs in LevelDB, each a generation; the one that `meta` names counts. */
export class Generations {
  readonly #level: SharedLevel
  readonly #db: ClassicLevel

  constructor(level: SharedLevel) {
    this.#level = level
    this.#db = level.db
  }

  async meta(): Promise<Meta | undefined> {
    const text = await this.#db.get(META)
    return text === undefined ? undefined : JSON.parse(text)
  }

  async load({ generation, rows }: Meta): Promise<Loaded> {
    const terms = new Terms(await this.#texts(generation, 't'))
    const kinds = new AnswerKinds(await this.#texts(generation, 'k'))
    const table = new RowTable(rows + 1)
    const blocks: AnswerBlock[] = []
    for (let number = 0; number * BLOCK_ROWS < rows; number++) {
      table.decode(this.#read(rowsKey(generation, number)))
      blocks.push(new AnswerBlock(sharedBlock(this.#read(answersKey(generation, number)))))
    }
    return { terms, kinds, table, blocks }
  }

  answers(generation: number, number: number): AnswerBlock {
    const bytes = new Uint8Array(BLOCK_BYTES)
    bytes.set(this.#read(answersKey(generation, number)))
    return new AnswerBlock(bytes)
  }

  rows(generation: number, number: number): RowTable {
    const table = new RowTable(BLOCK_ROWS, 1)
    table.decode(this.#read(rowsKey(generation, number)))
    return table
  }

  /** Writes a change, synced to disk: all of it or nothing. */
  async write({ meta, terms, firstTerm, kinds, firstKind, blocks }: Written): Promise<void> {
    const { generation } = meta
    const batch = [put(META, textOf(meta))]
    terms.forEach((term, i) => batch.push(putText(termKey(generation, firstTerm + i), term)))
    kinds.forEach((kind, i) => batch.push(putText(kindKey(generation, firstKind + i), kind)))
    for (const [number, { answers, rows }] of blocks)
      batch.push(put(answersKey(generation, number), answers), put(rowsKey(generation, number), rows))
    await this.#write(batch, { sync: true })
  }

  /** Writes a whole catalog. It counts from the moment `meta` names it, which is the last thing written, and synced. */
  async writeAll(generation: number, { terms, kinds, blocks }: Draft, table: RowTable): Promise<void> {
    // Left by a process that ended in the middle of this.
    await this.clear(generation)
    await this.#write(terms.list.map((term, i) => putText(termKey(generation, i), term)))
    await this.#write(kinds.list.map((kind, i) => putText(kindKey(generation, i), kind)))
    for (let start = 0; start < blocks.length; start += BLOCKS_A_BATCH) {
      const batch = blocks.slice(start, start + BLOCKS_A_BATCH).flatMap(({ bytes }, i) => {
        const number = start + i
        const end = Math.min(table.size, (number + 1) * BLOCK_ROWS)
        return [
          put(answersKey(generation, number), bytes),
          put(rowsKey(generation, number), table.encode(number * BLOCK_ROWS, end)),
        ]
      })
      await this.#write(batch)
    }
    const meta: Meta = { generation, rows: table.size }
    await this.#write([put(META, textOf(meta))], { sync: true })
  }

  async clear(generation: number): Promise<void> {
    const range = { gte: generationPrefix(generation), lt: `${generationPrefix(generation)}~` }
    await this.#level.write((db) => db.clear(range))
  }

  #write(batch: readonly Put[], options: { sync?: boolean } = {}): Promise<void> {
    return this.#level.write((db) => db.batch(batch as never, options))
  }

  async #texts(generation: number, what: string): Promise<any[]> {
    const prefix = generationPrefix(generation) + what
    const values = await this.#db.values({ gte: `${prefix}!`, lt: `${prefix}~` }).all()
    return values.map((text) => JSON.parse(text))
  }

  #read(key: string): Uint8Array {
    const found = this.#db.getSync<string, Uint8Array>(key, { valueEncoding: 'view' })
    if (!found) throw new Error(`${key} is missing`)
    return found
  }
}
