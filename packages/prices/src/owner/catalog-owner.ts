import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { AnswerBlock, PAGE_ROWS, pageOf } from '../core/answers.ts'
import { AnswerKinds, Draft } from '../core/draft.ts'
import { IdTable } from '../core/id-table.ts'
import type { Price } from '../core/price.ts'
import type { Row } from '../core/rows.ts'
import { Terms } from '../core/terms.ts'
import { uuidBytes } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import type { PriceLineReader } from '../price-line-reader.ts'
import type { IndexKind, RowChange } from '../index/index.ts'
import type { Change, State } from '../messages.ts'
import { eachInTurns, yieldTurn } from '../turn.ts'
import { SharedAnswers, StoredAnswers, type Answers } from './answers.ts'
import type { FrozenCatalog } from './catalog-export.ts'
import { changesRow, editRows, editsOf, place, type Edit, type Known } from './edits.ts'
import { Groups, type Pending } from '../groups.ts'
import { checkTypes, newIn, translate } from './translate.ts'
import { Generations, NO_META, type Loaded, type Log, type Meta } from './generations.ts'
import { Indexes } from './indexes.ts'
import { judge, type SingleChange } from './judge.ts'
import type { LogMark, OpenImport } from './log-mark.ts'
import { toPrice } from './price-of-row.ts'
import { TermCounts, TypesAhead } from './term-counts.ts'

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

/** Up to so many imported prices are put one by one; more make a new generation of the catalog. */
const FEW = 2_000
/** At a start, a catalog with more places of deleted prices than this, and than prices, is written anew. */
const MOST_HOLES = 65_536

const toRowChange = ({ row, before, after }: RowChange): RowChange => ({ row, before, after })

function idIn(answers: Answers, row: number): Uint8Array {
  const block = answers.blockWith(row)
  return block.id(block.slotOf(row))
}

/** The catalog, on main: the one writer. A change is durable first, then every thread sees it, then it is acknowledged. */
export class CatalogOwner {
  readonly #options: OwnerOptions
  readonly #generations: Generations
  /** What is durable. */
  #meta = NO_META
  #terms = new Terms()
  #kinds = new AnswerKinds()
  #counts = new TermCounts(this.#terms)
  #answers: Answers = new SharedAnswers([])
  #indexes: Indexes
  // Made here: a function made where a catalog is loaded would keep all that was loaded, 40 MB.
  readonly #readId = (row: number): Uint8Array => idIn(this.#answers, row)
  readonly #readPage = (page: number): Uint8Array => this.#generations.answers(this.#meta.generation, page)
  #ids = new IdTable(this.#readId)
  #last: Promise<unknown> = Promise.resolve()
  readonly #groups = new Groups<SingleChange, boolean>(
    (run) => this.#inTurn(run),
    (group) => this.#commit(group),
  )

  private constructor(options: OwnerOptions) {
    this.#options = options
    this.#generations = new Generations(options.level, options.log)
    this.#indexes = Indexes.empty(options.indexes)
  }

  /** Opens the catalog in the database. @param first makes what a database begins with that never had any prices */
  static async open(options: OwnerOptions, first = () => new Draft(new Terms())): Promise<CatalogOwner> {
    const owner = new CatalogOwner(options)
    const loaded = await owner.#generations.load()
    if (loaded) await owner.#loadCompact(loaded)
    else await owner.#adopt(first())
    return owner
  }

  get size(): number {
    return this.#ids.size
  }

  /** How far in the log it is, where it is that of a node of many. */
  get mark(): LogMark | undefined {
    return this.#meta.log
  }

  state(): State {
    return {
      generation: this.#meta.generation,
      // What was learned of changes that are still being written is told with them.
      terms: this.#terms.list.slice(0, this.#meta.terms),
      kinds: this.#kinds.list.slice(0, this.#meta.kinds),
      live: this.#counts.live(),
      answers: this.#answers.shared,
      segments: this.#indexes.segments,
      rows: this.#indexes.waiting,
    }
  }

  async get(id: string): Promise<Price | undefined> {
    const row = this.#ids.find(uuidBytes(id))
    if (row < 0) return undefined
    return toPrice(row, this.#rowAt(row), this.#answers.blockWith(row), this.#terms, this.#kinds)
  }

  /** @returns whether it is new. @throws Problem `CATALOG_FULL`, `TYPE_CONFLICT`, `CHARACTERISTIC_TWICE`, `DATES_REVERSED` */
  put(price: Price): Promise<boolean> {
    return this.#groups.submit({ key: price.id.toLowerCase(), price })
  }

  /** @returns whether it was there */
  remove(id: string): Promise<boolean> {
    return this.#groups.submit({ key: id.toLowerCase() })
  }

  /** The catalog as it is once no change is under way; it can be read until `close`. */
  freeze(): Promise<FrozenCatalog & { close(): Promise<void> }> {
    return this.#inTurn(async () => {
      const { generations, close } = this.#generations.freeze()
      return { meta: this.#meta, terms: this.#terms, kinds: this.#kinds, generations, close }
    })
  }

  /** A draft for an import: it learns terms of its own, so that one which fails leaves nothing behind. */
  draft(replace: boolean): Draft {
    if (replace) return new Draft(new Terms())
    return new Draft(new Terms(this.#terms.list), new AnswerKinds(this.#kinds.list), this.#counts.types)
  }

  /** Takes what was imported, whole. @returns how many prices there are now */
  take({ draft, replace, most }: PriceLineReader, log?: LogMark): Promise<number> {
    return this.#inTurn(async () => {
      if (replace) await this.#adopt(draft, log)
      else await this.#merge(draft, most, log)
      return this.size
    })
  }

  /** Makes changes of different prices, in their order, and the mark with them. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  change(group: readonly Pending<SingleChange, boolean>[], log: LogMark): Promise<void> {
    return this.#inTurn(() => this.#make(group, log))
  }

  /** Keeps how far it is. @param options.piece of the open import: its newest; @param options.sync all that was written, too */
  setMark(log: LogMark, options: { piece?: Uint8Array; sync?: boolean } = {}): Promise<void> {
    return this.#inTurn(() => this.#mark(log, options))
  }

  /** The pieces of the open import. @throws StartError `DATA_DAMAGED` */
  staged(open: OpenImport): AsyncGenerator<Uint8Array> {
    return this.#generations.staged(open)
  }

  /** Nothing of an import is needed any more. */
  clearStaged(): Promise<void> {
    return this.#generations.clearStaged()
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
    try {
      await this.#make(group)
    } catch (error) {
      // Those that were refused are settled already.
      for (const { reject } of group) reject(error)
    }
  }

  async #make(group: readonly Pending<SingleChange, boolean>[], log?: LogMark): Promise<void> {
    const { edits, settle } = judge(group, {
      ...this.#known(),
      terms: this.#terms,
      kinds: this.#kinds,
      types: new TypesAhead(this.#counts),
      makeRoom: (came, most) => this.#makeRoom(came, most),
    })
    if (edits.length > 0) await this.#apply(edits, log)
    else if (log) await this.#mark(log)
    settle()
  }

  async #mark(log: LogMark, options: { piece?: Uint8Array; sync?: boolean } = {}): Promise<void> {
    const meta = { ...this.#meta, log }
    await this.#generations.mark(meta, options)
    this.#meta = meta
  }

  /** @throws Problem `CATALOG_FULL` */
  #makeRoom(came: number, most = this.#options.most): void {
    if (this.size + came > most) throw errors.CATALOG_FULL(`more than ${most}`)
  }

  #known(): Known {
    return {
      find: (id) => this.#ids.find(id),
      rowAt: (row) => this.#rowAt(row),
      rows: this.#meta.rows,
    }
  }

  async #apply(edits: readonly Edit[], log = this.#meta.log): Promise<void> {
    const { generation, terms: firstTerm, kinds: firstKind, rows: oldRows } = this.#meta
    // A price that costs something else is found as before.
    const found = edits.filter(changesRow)
    const answers = this.#answers.edited(edits, oldRows)
    const rows = editRows(found, oldRows, (page) => this.#generations.rows(generation, page))
    const terms = this.#terms.list.slice(firstTerm)
    const kinds = this.#kinds.list.slice(firstKind)
    const meta: Meta = {
      ...this.#meta,
      rows: edits.reduce((most, { row }) => Math.max(most, row + 1), oldRows),
      terms: this.#terms.list.length,
      kinds: this.#kinds.list.length,
      log,
    }
    await this.#generations.write({ meta, terms, firstTerm, kinds, firstKind, answers: answers.pages, rows })
    const fold = await this.#indexes.fold()
    // From here to the word to the threads at once: one that starts has it all from `state`, or is told all.
    this.#meta = meta
    // Ids that go are found by the old answers, those that come by the new.
    for (const { before, after, id } of found) if (before && !after) this.#ids.delete(id)
    this.#answers.take(answers)
    for (const { row, before, after, id } of found) {
      this.#counts.add(before, -1)
      this.#counts.add(after, 1)
      if (after && !before) this.#ids.add(row, id)
    }
    const changes = found.map(toRowChange)
    this.#indexes.take(fold, changes, (offering) => this.#counts.of(offering))
    const live = this.#counts.live()
    await this.#options.onChange({ terms, kinds, live, answers: answers.change, rows: changes, ...fold })
  }

  async #merge(draft: Draft, most: number, log?: LogMark): Promise<void> {
    // Nothing is learned of what is refused.
    const table = draft.table()
    this.#makeRoom(await newIn(draft, table, this.#ids), most)
    await checkTypes(draft, table, this.#terms, this.#counts.types)
    const translated = await translate(draft, table, this.#terms, this.#kinds)
    if (translated.length <= FEW) {
      const known = this.#known()
      const puts = translated.map((one) => ({ ...one, ...place(one.id, known) }))
      if (puts.length > 0) await this.#apply(editsOf(puts, known.rows), log)
      else if (log) await this.#mark(log)
      return
    }
    const whole = await this.#toDraft()
    await eachInTurns(translated.length, (i) => {
      const { id, row, value, kind } = translated[i]!
      whole.add(id, row, value, kind)
    })
    await this.#adopt(whole, log)
  }

  async #toDraft(): Promise<Draft> {
    const draft = new Draft(this.#terms, this.#kinds)
    const { generation, rows } = this.#meta
    for (let first = 0; first < rows; first += PAGE_ROWS) {
      const page = this.#generations.rows(generation, pageOf(first))
      const answers = new AnswerBlock(this.#generations.answers(generation, pageOf(first)))
      for (let i = 0; i < page.size; i++) {
        const row = page.get(i)
        if (row) draft.add(answers.id(i), row, answers.value(i), answers.kind(i))
      }
      await yieldTurn()
    }
    return draft
  }

  /** Makes a draft the catalog: durable as a new generation first. */
  async #adopt(draft: Draft, log = this.#meta.log): Promise<void> {
    const table = draft.table()
    const meta = await this.#generations.writeAll(draft, table, { ...this.#meta, log })
    const { terms, kinds, blocks, ids } = draft
    await this.#become({ meta, terms, kinds, blocks, table }, ids)
    await this.#options.onReplace(this.state())
    await this.#generations.clearOlder(meta)
  }

  async #load(loaded: Loaded): Promise<void> {
    const { blocks, table } = loaded
    const answers = new SharedAnswers(blocks)
    const idOf = (row: number) => idIn(answers, row)
    const ids = new IdTable(idOf, table.size)
    await eachInTurns(table.size, (row) => {
      if (table.has(row)) ids.add(row, idOf(row))
    })
    await this.#become(loaded, ids)
  }

  /** Without the places of deleted prices where they are many. */
  async #loadCompact(loaded: Loaded): Promise<void> {
    await this.#load(loaded)
    if (this.#meta.rows - this.size > Math.max(MOST_HOLES, this.size)) await this.#adopt(await this.#toDraft())
  }

  async #become({ meta, terms, kinds, table, blocks }: Loaded, ids: IdTable): Promise<void> {
    const { holdsBlocks, indexes } = this.#options
    const counts = await TermCounts.ofAll(table, terms)
    const built = await Indexes.build(indexes, table)
    // At once: whoever asks meanwhile is answered of one catalog.
    this.#meta = meta
    this.#terms = terms
    this.#kinds = kinds
    this.#answers = holdsBlocks ? new SharedAnswers(blocks) : new StoredAnswers(this.#readPage)
    this.#ids = ids
    ids.readFrom(this.#readId)
    this.#counts = counts
    this.#indexes = built
  }

  #rowAt(row: number): Row {
    return this.#generations.row(this.#meta.generation, row)
  }

  /** One change after the other. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
