import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Blocks } from '../catalog/catalog.ts'
import { AnswerBlock, BLOCK_ROWS, blockOf, slotOf } from '../core/answers.ts'
import { AnswerKinds, Draft, faultOf, learnTypes, toRow, typeFaultOf } from '../core/draft.ts'
import { IdTable } from '../core/id-table.ts'
import { DEFAULT_CURRENCY, type Price } from '../core/price.ts'
import type { Row, RowTable } from '../core/rows.ts'
import { Terms, type CharTypes } from '../core/terms.ts'
import { uuidBytes } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import type { PriceLineReader } from '../price-line-reader.ts'
import type { IndexKind, Segments } from '../index/index.ts'
import type { Change, PutPrice, State } from '../messages.ts'
import { changesRow, editBlock, editsOf, type Coded, type Edit } from './edits.ts'
import { Groups, type Pending } from './groups.ts'
import { checkTypes, newIn, translate } from './translate.ts'
import { Generations, NO_META, type Loaded, type Log, type Meta } from './generations.ts'
import { toPrice } from './price-of-row.ts'
import { TermCounts } from './term-counts.ts'

/** What an owner is made of. */
export interface OwnerOptions {
  readonly level: SharedLevel
  readonly indexes: ReadonlyMap<string, IndexKind>
  /** Whether the answers lie in memory that threads share. */
  readonly holdsBlocks: boolean
  readonly log: Log
  /** So many prices there may be. */
  readonly most: number
  readonly onChange: (change: Change) => Promise<unknown>
  readonly onReplace: (state: State) => Promise<unknown>
}

/** A price to put; without one it is to be removed. */
interface SingleChange {
  /** Its id. */
  readonly key: string
  readonly price?: Price
}

/** What an empty database begins with. */
export interface FirstPrices {
  readonly size: number
  readonly prices: Iterable<Price>
}

/** Up to so many imported prices are put one by one; more make a new generation of the catalog. */
const FEW = 2_000
/** At a start, a catalog with more places of deleted prices than this, and than prices, is written anew. */
const MOST_HOLES = 65_536

const idIn = (block: AnswerBlock, row: number) => block.id(slotOf(row))

/** The catalog, on main: the one writer. A change is durable first, then every thread sees it, then it is acknowledged. */
export class CatalogOwner {
  readonly #options: OwnerOptions
  readonly #generations: Generations
  /** What is durable. */
  #meta = NO_META
  #terms = new Terms()
  #kinds = new AnswerKinds()
  #counts = new TermCounts(this.#terms)
  #live = this.#counts.live()
  #blocks: Blocks = new Map()
  #segments = new Map<string, Segments>()
  // Made here: a function made where a catalog is loaded would keep all that was loaded, 40 MB.
  readonly #readId = (row: number): Uint8Array => this.#idOf(row)
  #ids = new IdTable(this.#readId)
  #last: Promise<unknown> = Promise.resolve()
  readonly #groups = new Groups<SingleChange, boolean>(
    (run) => this.#inTurn(run),
    (group) => this.#commit(group),
  )

  private constructor(options: OwnerOptions) {
    this.#options = options
    this.#generations = new Generations(options.level, options.log)
  }

  /** Opens the catalog in the database. @param first the first prices, for a database that never had any */
  static async open(options: OwnerOptions, first?: FirstPrices): Promise<CatalogOwner> {
    const owner = new CatalogOwner(options)
    const loaded = await owner.#generations.load()
    if (loaded) await owner.#loadCompact(loaded)
    else {
      const draft = new Draft(new Terms(), new AnswerKinds(), undefined, first?.size)
      for (const price of first?.prices ?? []) draft.put(price)
      await owner.#adopt(draft)
    }
    return owner
  }

  get size(): number {
    return this.#ids.size
  }

  state(): State {
    return {
      generation: this.#meta.generation,
      terms: this.#terms.list,
      kinds: this.#kinds.list,
      live: this.#live,
      blocks: this.#blocks,
      segments: this.#segments,
    }
  }

  async get(id: string): Promise<Price | undefined> {
    const row = this.#ids.find(uuidBytes(id))
    if (row < 0) return undefined
    return toPrice(this.#rowAt(row), this.#answers(blockOf(row)), slotOf(row), this.#terms, this.#kinds)
  }

  /** @returns the price as it is kept and whether it is new. @throws Problem `CATALOG_FULL`, `TYPE_CONFLICT`, `CHARACTERISTIC_TWICE`, `DATES_REVERSED` */
  async put(price: Price): Promise<PutPrice> {
    const id = price.id.toLowerCase()
    const created = await this.#groups.submit({ key: id, price })
    const { default: isDefault, currency = DEFAULT_CURRENCY, ...rest } = price
    return { price: { ...rest, id, currency, ...(isDefault && { default: true }) }, created }
  }

  /** @returns whether it was there */
  async remove(id: string): Promise<boolean> {
    return this.#groups.submit({ key: id.toLowerCase() })
  }

  /** A draft for an import: it learns terms of its own, so that one which fails leaves nothing behind. */
  draft(replace: boolean): Draft {
    if (replace) return new Draft(new Terms())
    return new Draft(new Terms(this.#terms.list), new AnswerKinds(this.#kinds.list), this.#counts.types())
  }

  /** Takes what was imported, whole. @returns how many prices there are now */
  take({ draft, replace }: PriceLineReader): Promise<number> {
    return this.#inTurn(async () => {
      if (replace) await this.#adopt(draft)
      else await this.#merge(draft)
      return this.size
    })
  }

  /** Takes the catalog as the disk has it after a fault: a change that was refused may be there or not. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      const loaded = await this.#generations.load()
      if (loaded) await this.#load(loaded)
      await this.#options.onReplace(this.state())
    })
  }

  /** Resolves once no change is under way. */
  async settled(): Promise<void> {
    await this.#last
  }

  /** Makes changes of different prices, all of them or none, but for those that are refused. */
  async #commit(group: readonly Pending<SingleChange, boolean>[]): Promise<void> {
    const types = this.#counts.types()
    const puts: Coded[] = []
    const edits: Edit[] = []
    const outcomes: (() => void)[] = []
    let came = 0
    for (const { change, resolve, reject } of group) {
      try {
        const id = uuidBytes(change.key)
        const row = this.#ids.find(id)
        if (change.price) {
          if (row < 0) this.#makeRoom(came + 1)
          puts.push(this.#coded(id, change.price, types))
          if (row < 0) came++
        } else if (row >= 0) {
          edits.push({ row, before: this.#rowAt(row), after: undefined, id, value: 0, kind: 0 })
          came--
        }
        outcomes.push(() => resolve(change.price ? row < 0 : row >= 0))
      } catch (error) {
        reject(error)
      }
    }
    try {
      edits.push(...this.#edits(puts))
      if (edits.length > 0) await this.#apply(edits)
      for (const settle of outcomes) settle()
    } catch (error) {
      // Those that were refused before are settled already.
      for (const { reject } of group) reject(error)
    }
  }

  /** Nothing is learned of a price that is refused. @param types what the prices before it make of them */
  #coded(id: Uint8Array, price: Price, types: CharTypes): Coded {
    const fault = faultOf(price) ?? typeFaultOf(price, this.#terms, types)
    if (fault) throw errors[fault.code](fault.detail)
    const row = toRow(price, this.#terms)
    learnTypes(row, this.#terms, types)
    return {
      id,
      row,
      value: price.value,
      kind: this.#kinds.codeOf(price.priceSpecId, price.currency ?? DEFAULT_CURRENCY),
    }
  }

  /** @throws Problem `CATALOG_FULL` */
  #makeRoom(came: number): void {
    const { most } = this.#options
    if (this.size + came > most) throw errors.CATALOG_FULL(`more than ${most}`)
  }

  #edits(puts: Parameters<typeof editsOf>[0]): Edit[] {
    const known = { find: (id: Uint8Array) => this.#ids.find(id), rowAt: (row: number) => this.#rowAt(row) }
    return editsOf(puts, known, this.#meta.rows)
  }

  async #apply(edits: readonly Edit[]): Promise<void> {
    const { indexes, holdsBlocks, onChange } = this.#options
    const edited = new Map(
      Array.from(
        Map.groupBy(edits, ({ row }) => blockOf(row)),
        ([number, ofBlock]) => [number, this.#edited(number, ofBlock)],
      ),
    )
    const { terms: firstTerm, kinds: firstKind } = this.#meta
    const terms = this.#terms.list.slice(firstTerm)
    const kinds = this.#kinds.list.slice(firstKind)
    const rows = Math.max(this.#meta.rows, ...edits.map(({ row }) => row + 1))
    const segments = new Map<string, Segments>()
    // A price that costs something else is found as before.
    const found = edits.filter(changesRow)
    for (const [name, kind] of indexes)
      segments.set(name, found.length > 0 ? kind.update(this.#segments.get(name)!, found) : new Map())

    const meta: Meta = {
      ...this.#meta,
      rows,
      terms: this.#terms.list.length,
      kinds: this.#kinds.list.length,
    }
    await this.#generations.write({ meta, terms, firstTerm, kinds, firstKind, blocks: edited })
    this.#meta = meta
    const blocks: Blocks = new Map(
      Array.from(edited, ([number, { answers }]) => [number, holdsBlocks ? answers : undefined]),
    )
    // Ids that go are found by the old answers, those that come by the new.
    for (const { before, after, id } of edits) if (before && !after) this.#ids.delete(id)
    if (holdsBlocks) for (const [number, bytes] of blocks) this.#blocks.set(number, bytes)
    for (const { row, before, after, id } of found) {
      this.#counts.add(before, -1)
      this.#counts.add(after, 1)
      if (after && !before) this.#ids.add(row, id)
    }
    for (const [name, changed] of segments) {
      for (const [key, bytes] of changed) this.#segments.get(name)!.set(key, bytes)
    }
    if (found.length > 0) this.#live = this.#counts.live()
    await onChange({ terms, kinds, live: this.#live, blocks, segments })
  }

  #edited(number: number, edits: readonly Edit[]) {
    const exists = number * BLOCK_ROWS < this.#meta.rows
    const old = exists ? { answers: this.#answers(number), rows: () => this.#rowsOf(number) } : undefined
    return editBlock(old, edits)
  }

  async #merge(draft: Draft): Promise<void> {
    // Nothing is learned of what is refused.
    const table = draft.table()
    this.#makeRoom(newIn(draft, table, this.#ids))
    checkTypes(draft, table, this.#terms, this.#counts.types())
    const translated = translate(draft, table, this.#terms, this.#kinds)
    if (translated.length <= FEW) {
      if (translated.length > 0) await this.#apply(this.#edits(translated))
      return
    }
    const whole = this.#toDraft()
    for (const { id, row, value, kind } of translated) whole.add(id, row, value, kind)
    await this.#adopt(whole)
  }

  #toDraft(): Draft {
    const draft = new Draft(this.#terms, this.#kinds)
    for (let number = 0; number * BLOCK_ROWS < this.#meta.rows; number++) {
      const rows = this.#rowsOf(number)
      const block = this.#answers(number)
      for (let slot = 0; slot < rows.size; slot++) {
        const row = rows.get(slot)
        if (row) draft.add(idIn(block, slot), row, block.value(slot), block.kind(slot))
      }
    }
    return draft
  }

  /** Makes a draft the catalog: durable as a new generation first. */
  async #adopt(draft: Draft): Promise<void> {
    const table = draft.table()
    const meta = await this.#generations.writeAll(draft, table, this.#meta)
    const { terms, kinds, blocks, ids } = draft
    this.#become({ meta, terms, kinds, blocks, table }, ids)
    await this.#options.onReplace(this.state())
    await this.#generations.clearOlder(meta)
  }

  async #load(loaded: Loaded): Promise<void> {
    const { blocks, table } = loaded
    const idOf = (row: number) => idIn(blocks[blockOf(row)]!, row)
    const ids = new IdTable(idOf, table.size)
    for (let row = 0; row < table.size; row++) if (table.has(row)) ids.add(row, idOf(row))
    this.#become(loaded, ids)
  }

  /** Without the places of deleted prices where they are many. */
  async #loadCompact(loaded: Loaded): Promise<void> {
    await this.#load(loaded)
    if (this.#meta.rows - this.size > Math.max(MOST_HOLES, this.size)) await this.#adopt(this.#toDraft())
  }

  #become({ meta, terms, kinds, table, blocks }: Loaded, ids: IdTable): void {
    const { holdsBlocks, indexes } = this.#options
    this.#meta = meta
    this.#terms = terms
    this.#kinds = kinds
    this.#blocks = new Map(blocks.map(({ bytes }, number) => [number, holdsBlocks ? bytes : undefined]))
    this.#ids = ids
    ids.readFrom(this.#readId)
    this.#counts = new TermCounts(terms)
    for (let row = 0; row < table.size; row++) this.#counts.add(table.get(row), 1)
    this.#live = this.#counts.live()
    this.#segments = new Map(Array.from(indexes, ([name, kind]) => [name, kind.build(table)]))
  }

  #answers(number: number): AnswerBlock {
    const shared = this.#blocks.get(number)
    return shared ? new AnswerBlock(shared) : this.#generations.answers(this.#meta.generation, number)
  }

  #rowsOf(number: number): RowTable {
    return this.#generations.rows(this.#meta.generation, number)
  }

  #idOf(row: number): Uint8Array {
    return idIn(this.#answers(blockOf(row)), row)
  }

  #rowAt(row: number): Row {
    return this.#rowsOf(blockOf(row)).get(slotOf(row))!
  }

  /** One change after the other. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
