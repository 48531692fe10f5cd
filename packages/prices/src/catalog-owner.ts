import type { ClassicLevel } from 'classic-level'
import { generationPrefix, META, answersKey, rowsKey, termKey, kindKey } from './block-store.ts'
import type { Blocks } from './catalog/catalog.ts'
import {
  AnswerBlock,
  BLOCK_BYTES,
  BLOCK_ROWS,
  blockOf,
  ID_BYTES,
  sharedBlock,
  slotOf,
  type AnswerKind,
} from './core/answers.ts'
import { AnswerKinds, Draft, faultOf, toRow } from './core/draft.ts'
import { dateOf, FIRST_DAY, LAST_DAY } from './core/dates.ts'
import { IdTable } from './core/id-table.ts'
import { DEFAULT_CURRENCY, type Price } from './core/price.ts'
import { RowTable, type Row } from './core/rows.ts'
import { fits, Terms, type Term } from './core/terms.ts'
import { uuidBytes, uuidText } from './core/uuid.ts'
import { errors } from './errors.ts'
import type { Importer } from './importer.ts'
import type { IndexKind, RowChange, Segments } from './index/index.ts'
import type { Change, State } from './messages.ts'

/** What an owner is made of. */
export interface OwnerOptions {
  readonly db: ClassicLevel
  readonly indexes: ReadonlyMap<string, IndexKind>
  /** Whether the answers lie in memory that threads share. */
  readonly holdsBlocks: boolean
  readonly onChange: (change: Change) => Promise<void>
  readonly onReplace: (state: State) => Promise<void>
}

/** A row that comes, changes or goes, with what its answer needs. */
interface Edit extends RowChange {
  readonly id: Uint8Array
  readonly value: number
  readonly kind: number
}

/** Up to so many imported prices are put one by one; more make a new generation of the catalog. */
const FEW = 2_000
const BLOCKS_A_BATCH = 64
/** At a start, a catalog with more places of deleted prices than this, and than prices, is written anew. */
const MOST_HOLES = 65_536

/** The catalog, on main: the one writer. A change is durable first, then every thread sees it, then it is acknowledged. */
export class CatalogOwner {
  readonly #options: OwnerOptions
  #generation = 0
  #terms = new Terms()
  #kinds = new AnswerKinds()
  #counts: number[] = []
  #live = new Uint8Array(new SharedArrayBuffer(0))
  #blocks: Blocks = new Map()
  #segments = new Map<string, Segments>()
  #ids = new IdTable((row) => this.#idOf(row))
  #rows = 0
  /** How many terms and kinds are durable. */
  #saved = { terms: 0, kinds: 0 }
  #last: Promise<unknown> = Promise.resolve()

  private constructor(options: OwnerOptions) {
    this.#options = options
  }

  /** Opens the catalog in the database. @param sample the first prices, for a database that never had any */
  static async open(options: OwnerOptions, sample?: Iterable<Price>): Promise<CatalogOwner> {
    const owner = new CatalogOwner(options)
    const meta = await options.db.get(META)
    if (meta === undefined) {
      const draft = new Draft(new Terms())
      for (const price of sample ?? []) draft.put(price)
      await owner.#adopt(draft)
    } else await owner.#load(JSON.parse(meta))
    return owner
  }

  get size(): number {
    return this.#ids.size
  }

  state(): State {
    return {
      generation: this.#generation,
      terms: this.#terms.list,
      kinds: this.#kinds.list,
      live: this.#live,
      blocks: this.#blocks,
      segments: this.#segments,
    }
  }

  async get(id: string): Promise<Price | undefined> {
    const row = this.#ids.find(uuidBytes(id))
    return row < 0 ? undefined : this.#priceAt(row)
  }

  /** @returns whether it is new. @throws Problem `TYPE_CONFLICT`, `CHARACTERISTIC_TWICE`, `DATES_REVERSED` */
  put(price: Price): Promise<boolean> {
    return this.#inTurn(async () => {
      const id = uuidBytes(price.id)
      const row = this.#checkedRow(price)
      const created = this.#ids.find(id) < 0
      const kind = this.#kinds.codeOf(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY)
      await this.#apply(this.#edits([{ id, row, value: price.value, kind }]))
      return created
    })
  }

  /** @returns whether it was there */
  remove(id: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const bytes = uuidBytes(id)
      const row = this.#ids.find(bytes)
      if (row < 0) return false
      await this.#apply([{ row, before: this.#rowAt(row), after: undefined, id: bytes, value: 0, kind: 0 }])
      return true
    })
  }

  /** A draft for an import: it learns terms of its own, so that one which fails leaves nothing behind. */
  draft(replace: boolean): Draft {
    return replace ? new Draft(new Terms()) : new Draft(new Terms(this.#terms.list), new AnswerKinds(this.#kinds.list))
  }

  /** Takes what was imported, whole. @returns how many prices there are now */
  take({ draft, replace }: Importer, most: number): Promise<number> {
    return this.#inTurn(async () => {
      if (replace) await this.#adopt(draft)
      else await this.#merge(draft, most)
      return this.size
    })
  }

  #checkedRow(price: Price): Row {
    const fault = faultOf(price)
    if (fault) throw errors[fault.code](fault.detail)
    // Tried on what is known first: a price that is refused must not leave its words behind.
    for (const { char, value } of price.charValues) {
      const code = this.#terms.chars.codeOf(char)
      const type = code < 0 ? undefined : this.#terms.typeOf(code)
      if (type && !fits(type, value)) throw errors.TYPE_CONFLICT(`${char} is of type ${type}`)
    }
    const row = toRow(price, this.#terms)
    if ('code' in row) throw errors[row.code](row.detail)
    return row
  }

  /** The edits that put rows; one that changes its offering goes and comes again. */
  #edits(puts: readonly { id: Uint8Array; row: Row; value: number; kind: number }[]): Edit[] {
    const edits: Edit[] = []
    let next = this.#rows
    for (const { id, row: after, value, kind } of puts) {
      const found = this.#ids.find(id)
      const before = found < 0 ? undefined : this.#rowAt(found)
      const stays = before?.offering === after.offering
      if (before && !stays) edits.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
      edits.push({ row: stays ? found : next++, before: stays ? before : undefined, after, id, value, kind })
    }
    return edits
  }

  async #apply(edits: readonly Edit[]): Promise<void> {
    const { db, indexes, holdsBlocks } = this.#options
    const blocks: Blocks = new Map()
    const batch: { type: 'put'; key: string; value: string | Uint8Array; valueEncoding?: 'view' }[] = []
    for (const [number, ofBlock] of Map.groupBy(edits, ({ row }) => blockOf(row))) {
      const { answers, rows } = this.#changedBlock(number, ofBlock)
      blocks.set(number, holdsBlocks ? answers : undefined)
      batch.push({ type: 'put', key: answersKey(this.#generation, number), value: answers, valueEncoding: 'view' })
      batch.push({ type: 'put', key: rowsKey(this.#generation, number), value: rows, valueEncoding: 'view' })
    }
    const { terms: savedTerms, kinds: savedKinds } = this.#saved
    const terms = this.#terms.list.slice(savedTerms)
    const kinds = this.#kinds.list.slice(savedKinds)
    terms.forEach((term, i) => batch.push(this.#textEntry(termKey, savedTerms + i, term)))
    kinds.forEach((kind, i) => batch.push(this.#textEntry(kindKey, savedKinds + i, kind)))
    const rows = Math.max(this.#rows, ...edits.map(({ row }) => row + 1))
    batch.push({ type: 'put', key: META, value: JSON.stringify({ generation: this.#generation, rows }) })
    const segments = new Map<string, Segments>()
    for (const [name, kind] of indexes) segments.set(name, kind.update(this.#segments.get(name)!, edits))

    await db.batch(batch as never, { sync: true })
    this.#rows = rows
    this.#saved = { terms: this.#terms.list.length, kinds: this.#kinds.list.length }
    for (const { row, before, after, id } of edits) {
      if (before && !after) this.#ids.delete(id)
      this.#count(before, -1)
      this.#count(after, 1)
      if (holdsBlocks) for (const [number, bytes] of blocks) this.#blocks.set(number, bytes)
      if (after && !before) this.#ids.add(row, id)
    }
    for (const [name, changed] of segments) {
      for (const [key, bytes] of changed) this.#segments.get(name)!.set(key, bytes)
    }
    this.#live = this.#liveTerms()
    await this.#options.onChange({ terms, kinds, live: this.#live, blocks, segments })
  }

  #textEntry(keyOf: (generation: number, number: number) => string, number: number, value: Term | AnswerKind) {
    return { type: 'put' as const, key: keyOf(this.#generation, number), value: JSON.stringify(value) }
  }

  /** A block with its edits made, in memory of its own: readers go on with the old one. */
  #changedBlock(number: number, edits: readonly Edit[]): { answers: Uint8Array; rows: Uint8Array } {
    const first = number * BLOCK_ROWS
    const exists = first < this.#rows
    const block = new AnswerBlock(sharedBlock(exists ? this.#answers(number).bytes : undefined))
    const old = exists ? this.#rowsOf(number) : new RowTable(0)
    const rows = Array.from({ length: old.size }, (_, slot) => old.get(slot))
    for (const { row, after, id, value, kind } of edits) {
      rows[slotOf(row)] = after
      if (after) block.set(slotOf(row), id, value, kind)
    }
    const table = new RowTable(rows.length + 1)
    for (const row of rows) table.push(row)
    return { answers: block.bytes, rows: table.encode(0, table.size) }
  }

  async #merge(draft: Draft, most: number): Promise<void> {
    const translated = this.#translate(draft)
    if (translated.length <= FEW) {
      const came = translated.filter(({ id }) => this.#ids.find(id) < 0).length
      if (this.size + came > most) throw errors.CATALOG_FULL(`more than ${most}`)
      if (translated.length > 0) await this.#apply(this.#edits(translated))
      return
    }
    const whole = this.#toDraft()
    for (const { id, row, value, kind } of translated) whole.add(id, row, value, kind)
    if (whole.size > most) throw errors.CATALOG_FULL(`more than ${most}`)
    await this.#adopt(whole)
  }

  /** The rows of a draft in terms of this catalog, which may have learnt others since the draft was begun. */
  #translate(draft: Draft): { id: Uint8Array; row: Row; value: number; kind: number }[] {
    const { list } = draft.terms
    const terms: number[] = []
    list.forEach((term, code) => {
      if (term.kind !== 'value') terms[code] = this.#terms.name(term.kind, term.text)
      else terms[code] = this.#terms.value(terms[term.char]!, term.value)
      if (terms[code]! < 0) throw errors.TYPE_CONFLICT('another change gave the characteristic another type meanwhile')
    })
    const kinds = draft.kinds.list.map(({ spec, currency }) => this.#kinds.codeOf(spec, currency))
    const table = draft.table()
    return Array.from({ length: table.size }, (_, number) => {
      const row = table.get(number)!
      const block = draft.blocks[blockOf(number)]!
      return {
        id: draft.idOf(number),
        value: block.values[slotOf(number)]!,
        kind: kinds[block.kinds[slotOf(number)]!]!,
        row: {
          ...row,
          offering: terms[row.offering]!,
          group: terms[row.group]!,
          spec: terms[row.spec]!,
          values: Array.from(row.values, (term) => terms[term]!),
        },
      }
    })
  }

  #toDraft(): Draft {
    const draft = new Draft(this.#terms, this.#kinds)
    for (let number = 0; number * BLOCK_ROWS < this.#rows; number++) {
      const rows = this.#rowsOf(number)
      const block = this.#answers(number)
      for (let slot = 0; slot < rows.size; slot++) {
        const row = rows.get(slot)
        const id = block.ids.subarray(slot * ID_BYTES, (slot + 1) * ID_BYTES)
        if (row) draft.add(id, row, block.values[slot]!, block.kinds[slot]!)
      }
    }
    return draft
  }

  /** Makes a draft the catalog: durable under a new generation first, which counts from the moment `meta` names it. */
  async #adopt(draft: Draft): Promise<void> {
    const { db, onReplace } = this.#options
    const generation = this.#generation + 1
    const table = draft.table()
    // Left by a process that ended in the middle of this.
    await this.#clear(generation)
    const put = (key: string, value: string | Uint8Array) => ({
      type: 'put' as const,
      key,
      value,
      valueEncoding: typeof value === 'string' ? 'utf8' : 'view',
    })
    await db.batch(draft.terms.list.map((term, i) => put(termKey(generation, i), JSON.stringify(term))) as never)
    await db.batch(draft.kinds.list.map((kind, i) => put(kindKey(generation, i), JSON.stringify(kind))) as never)
    for (let start = 0; start < draft.blocks.length; start += BLOCKS_A_BATCH) {
      const batch = draft.blocks.slice(start, start + BLOCKS_A_BATCH).flatMap(({ bytes }, i) => {
        const number = start + i
        const end = Math.min(table.size, (number + 1) * BLOCK_ROWS)
        return [
          put(answersKey(generation, number), bytes),
          put(rowsKey(generation, number), table.encode(number * BLOCK_ROWS, end)),
        ]
      })
      await db.batch(batch as never)
    }
    const old = this.#generation
    await db.put(META, JSON.stringify({ generation, rows: table.size }), { sync: true })
    this.#become(generation, draft.terms, draft.kinds, table, draft.ids, draft.blocks)
    await onReplace(this.state())
    await this.#clear(old)
  }

  #become(
    generation: number,
    terms: Terms,
    kinds: AnswerKinds,
    table: RowTable,
    ids: IdTable,
    blocks: readonly AnswerBlock[],
  ): void {
    this.#generation = generation
    this.#terms = terms
    this.#kinds = kinds
    this.#saved = { terms: terms.list.length, kinds: kinds.list.length }
    this.#rows = table.size
    this.#ids = ids
    this.#blocks = new Map(blocks.map(({ bytes }, number) => [number, this.#options.holdsBlocks ? bytes : undefined]))
    ids.readFrom((row) => this.#idOf(row))
    this.#counts = []
    for (let row = 0; row < table.size; row++) this.#count(table.get(row), 1)
    this.#live = this.#liveTerms()
    this.#segments = new Map(Array.from(this.#options.indexes, ([name, kind]) => [name, kind.build(table)]))
  }

  async #load({ generation, rows }: { generation: number; rows: number }): Promise<void> {
    const { db } = this.#options
    this.#generation = generation
    const parsed = async (what: string) => {
      const prefix = generationPrefix(generation) + what
      const values = await db.values({ gte: `${prefix}!`, lt: `${prefix}~` }).all()
      return values.map((text) => JSON.parse(text))
    }
    const terms = new Terms(await parsed('t'))
    const kinds = new AnswerKinds(await parsed('k'))
    const table = new RowTable(rows + 1)
    const blocks: AnswerBlock[] = []
    for (let number = 0; number * BLOCK_ROWS < rows; number++) {
      table.decode(this.#read(rowsKey(generation, number)))
      blocks.push(new AnswerBlock(sharedBlock(this.#read(answersKey(generation, number)))))
    }
    const idOf = (row: number) =>
      blocks[blockOf(row)]!.ids.subarray(slotOf(row) * ID_BYTES, (slotOf(row) + 1) * ID_BYTES)
    const ids = new IdTable(idOf, rows)
    for (let row = 0; row < rows; row++) if (table.has(row)) ids.add(row, idOf(row))
    this.#become(generation, terms, kinds, table, ids, blocks)
    if (rows - ids.size > Math.max(MOST_HOLES, ids.size)) await this.#adopt(this.#toDraft())
  }

  async #clear(generation: number): Promise<void> {
    await this.#options.db.clear({ gte: generationPrefix(generation), lt: `${generationPrefix(generation)}~` })
  }

  #read(key: string): Uint8Array {
    const found = this.#options.db.getSync<string, Uint8Array>(key, { valueEncoding: 'view' })
    if (!found) throw new Error(`${key} is missing`)
    return found
  }

  #answers(number: number): AnswerBlock {
    const shared = this.#blocks.get(number)
    if (shared) return new AnswerBlock(shared)
    const bytes = new Uint8Array(BLOCK_BYTES)
    bytes.set(this.#read(answersKey(this.#generation, number)))
    return new AnswerBlock(bytes)
  }

  #rowsOf(number: number): RowTable {
    const table = new RowTable(BLOCK_ROWS, 1)
    table.decode(this.#read(rowsKey(this.#generation, number)))
    return table
  }

  #idOf(row: number): Uint8Array {
    const slot = slotOf(row)
    return this.#answers(blockOf(row)).ids.subarray(slot * ID_BYTES, (slot + 1) * ID_BYTES)
  }

  #rowAt(row: number): Row {
    return this.#rowsOf(blockOf(row)).get(slotOf(row))!
  }

  #priceAt(number: number): Price {
    const row = this.#rowAt(number)
    const block = this.#answers(blockOf(number))
    const text = (term: number) => (this.#terms.list[term] as { text: string }).text
    return {
      id: uuidText(this.#idOf(number)),
      offeringId: text(row.offering),
      groupId: text(row.group),
      priceSpecId: text(row.spec),
      charValues: Array.from(row.values, (term) => {
        const { char, value } = this.#terms.list[term] as Term & { kind: 'value' }
        return { char: text(char), value }
      }),
      value: block.values[slotOf(number)]!,
      currency: this.#kinds.list[block.kinds[slotOf(number)]!]!.currency,
      ...(row.isDefault && { default: true }),
      ...(row.from !== FIRST_DAY && { from: dateOf(row.from) }),
      ...(row.to !== LAST_DAY && { to: dateOf(row.to) }),
    }
  }

  #count(row: Row | undefined, by: number): void {
    if (!row) return
    const counts = this.#counts
    for (const term of [row.offering, row.group, row.spec]) counts[term] = (counts[term] ?? 0) + by
    for (const term of row.values) {
      const { char } = this.#terms.list[term] as Term & { kind: 'value' }
      counts[term] = (counts[term] ?? 0) + by
      counts[char] = (counts[char] ?? 0) + by
    }
  }

  #liveTerms(): Uint8Array<SharedArrayBuffer> {
    const live = new Uint8Array(new SharedArrayBuffer(this.#terms.list.length))
    for (let term = 0; term < live.length; term++) live[term] = (this.#counts[term] ?? 0) > 0 ? 1 : 0
    return live
  }

  /** One change after the other. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Resolves once no change is under way. */
  async settled(): Promise<void> {
    await this.#last
  }
}
