import {
  AnswerBlock,
  toBlockNumber,
  PAGE_BYTES,
  PAGE_ROWS,
  toPageNumber,
  ROW_BYTES,
  createSharedBlock,
} from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import { AnswerTable, NO_ANSWERS, type AnswerChange } from '../answer-store/answer-table.ts'
import type { RowEdit } from './row-edits.ts'

/**
 * Maximum number of single answers: edited answers that threads hold separately, until the main thread copies their
 * block and adds them to the copy. Each takes 0.3 KB in every thread.
 */
const MAX_PENDING_ANSWERS = 8_192

/** Answers after edits, in separate memory, because readers still use the old answers. */
export interface EditedAnswers {
  /** The pages to write. */
  readonly pages: Map<number, Uint8Array>
  /** The change to send to the threads. */
  readonly change: AnswerChange
}

/**
 * The answers of the catalog on the main thread. An answer is the data of one row that search replies contain (see
 * `AnswerBlock`).
 */
export interface CatalogAnswers {
  /** All answers that the threads share; none if the answers are only in the database. */
  readonly shared: AnswerChange
  getBlock(row: number): AnswerBlock
  /** @param words values that rows cannot hold are added to them */
  applyEdits(edits: readonly RowEdit[], rows: number, words: AnswerWords): EditedAnswers
  /** Applies edits after they are written. */
  commitEdits(edited: EditedAnswers): void
}

/**
 * Returns edited copies of the pages with added or changed rows. A removal leaves its answer unchanged.
 * @param copy returns a copy of a page
 */
function editPages(
  edits: readonly RowEdit[],
  words: AnswerWords,
  copy: (number: number) => AnswerBlock,
): Map<number, AnswerBlock> {
  const edited = new Map<number, AnswerBlock>()
  for (const { row, after, id, value, kind } of edits) {
    if (!after) continue
    const number = toPageNumber(row)
    const page = edited.get(number) ?? copy(number)
    edited.set(number, page)
    page.set(page.toSlot(row), id, value, kind, words)
  }
  return edited
}

const toPageBytes = (pages: Map<number, AnswerBlock>) =>
  new Map(Array.from(pages, ([number, { bytes }]) => [number, bytes]))

/** Answers in memory that threads share. */
export class SharedAnswers implements CatalogAnswers {
  #table: AnswerTable
  /**
   * By block, the number of its single answers. The block that has had single answers for the longest time is first.
   */
  readonly #pending = new Map<number, number>()

  readonly #maxPending: number

  /** @param maxPending maximum number of single answers */
  constructor(blocks: readonly AnswerBlock[], maxPending = MAX_PENDING_ANSWERS) {
    this.#table = AnswerTable.fromBlocks(blocks)
    this.#maxPending = maxPending
  }

  get shared(): AnswerChange {
    const singles = [...this.#pending.keys()].flatMap((number) => [...this.#table.getSingles(number)!])
    return {
      blocks: new Map(this.#table.blocks.flatMap(({ bytes }, number) => [[number, bytes]])),
      rows: singles.map(([row]) => row),
      bytes: Buffer.concat(singles.map(([, { bytes }]) => bytes)),
    }
  }

  getBlock(row: number): AnswerBlock {
    return this.#table.getBlock(row)
  }

  applyEdits(edits: readonly RowEdit[], _rows: number, words: AnswerWords): EditedAnswers {
    const pages = editPages(edits, words, (number) => this.#copyPage(number))
    const rows = edits.flatMap(({ row, after }) => (after ? row : []))
    const bytes = new Uint8Array(rows.length * ROW_BYTES)
    for (const [i, row] of rows.entries()) {
      const page = pages.get(toPageNumber(row))!
      bytes.set(page.getRow(page.toSlot(row)), i * ROW_BYTES)
    }
    return { pages: toPageBytes(pages), change: { blocks: this.#renewBlocks(rows.length), rows, bytes } }
  }

  commitEdits({ change }: EditedAnswers): void {
    this.#table = this.#table.with(change)
    for (const number of change.blocks.keys()) this.#pending.delete(number)
    for (const number of new Set(change.rows.map(toBlockNumber)))
      this.#pending.set(number, this.#table.getSingles(number)!.size)
  }

  #copyPage(number: number): AnswerBlock {
    const first = number * PAGE_ROWS
    const page = new AnswerBlock(new Uint8Array(PAGE_BYTES))
    const block = this.#table.blocks[toBlockNumber(first)]
    if (block) page.bytes.set(block.getPage(number))
    const singles = this.#table.getSingles(toBlockNumber(first))
    for (let slot = 0; singles && slot < PAGE_ROWS; slot++) {
      const single = singles.get(first + slot)
      if (single) page.getRow(slot).set(single.bytes)
    }
    return page
  }

  /** Rebuilds blocks with their single answers, until `more` new single answers fit within the limit. */
  #renewBlocks(more: number): Map<number, Uint8Array> {
    const renewed = new Map<number, Uint8Array>()
    let pending = more
    for (const count of this.#pending.values()) pending += count
    for (const [number, count] of this.#pending) {
      if (pending <= this.#maxPending) break
      const block = new AnswerBlock(createSharedBlock(this.#table.blocks[number]?.bytes))
      for (const [row, { bytes }] of this.#table.getSingles(number)!) block.getRow(block.toSlot(row)).set(bytes)
      renewed.set(number, block.bytes)
      pending -= count
    }
    return renewed
  }
}

/** Answers in the database only. */
export class StoredAnswers implements CatalogAnswers {
  readonly shared = NO_ANSWERS
  readonly #read: (page: number) => Uint8Array

  constructor(read: (page: number) => Uint8Array) {
    this.#read = read
  }

  getBlock(row: number): AnswerBlock {
    return new AnswerBlock(this.#read(toPageNumber(row)))
  }

  applyEdits(edits: readonly RowEdit[], rows: number, words: AnswerWords): EditedAnswers {
    const pages = editPages(edits, words, (number) => {
      const copy = new Uint8Array(PAGE_BYTES)
      if (number * PAGE_ROWS < rows) copy.set(this.#read(number))
      return new AnswerBlock(copy)
    })
    const blocks = new Map(Array.from(pages.keys(), (number) => [number, undefined]))
    return { pages: toPageBytes(pages), change: { ...NO_ANSWERS, blocks } }
  }

  commitEdits(): void {}
}
