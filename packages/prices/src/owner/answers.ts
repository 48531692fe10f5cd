import { AnswerBlock, blockOf, PAGE_BYTES, PAGE_ROWS, pageOf, ROW_BYTES, sharedBlock } from '../core/answers.ts'
import { HeldAnswers, NO_ANSWERS, type AnswerChange } from '../core/held-answers.ts'
import type { Edit } from './edits.ts'

/** So many single answers wait at most beside the blocks: each takes 0.3 KB of every thread. */
const MOST_WAITING = 8_192

/** Answers with edits made, in memory of their own: readers go on with the old ones. */
export interface EditedAnswers {
  /** What is to be written. */
  readonly pages: Map<number, Uint8Array>
  /** What threads are to be told. */
  readonly change: AnswerChange
}

/** The answers of the catalog, as main has them. */
export interface Answers {
  /** All of them that threads share. */
  readonly shared: AnswerChange
  blockWith(row: number): AnswerBlock
  edited(edits: readonly Edit[], rows: number): EditedAnswers
  /** What was edited is written. */
  take(edited: EditedAnswers): void
}

/** Copies of the pages that edits touch, with the edits made. @param copy of a page */
function edit(edits: readonly Edit[], copy: (number: number) => AnswerBlock): Map<number, AnswerBlock> {
  const edited = new Map<number, AnswerBlock>()
  for (const { row, after, id, value, kind } of edits) {
    if (!after) continue
    const number = pageOf(row)
    const page = edited.get(number) ?? copy(number)
    edited.set(number, page)
    page.set(page.slotOf(row), id, value, kind)
  }
  return edited
}

const bytesOf = (pages: Map<number, AnswerBlock>) =>
  new Map(Array.from(pages, ([number, { bytes }]) => [number, bytes]))

/** In memory that threads share. */
export class SharedAnswers implements Answers {
  #held: HeldAnswers
  /** How many single answers wait beside a block: first where they have waited longest. */
  readonly #waiting = new Map<number, number>()

  readonly #most: number

  /** @param most so many may wait */
  constructor(blocks: readonly AnswerBlock[], most = MOST_WAITING) {
    this.#held = HeldAnswers.of(blocks)
    this.#most = most
  }

  get shared(): AnswerChange {
    const singles = [...this.#waiting.keys()].flatMap((number) => [...this.#held.singlesOf(number)!])
    return {
      blocks: new Map(this.#held.blocks.flatMap(({ bytes }, number) => [[number, bytes]])),
      rows: singles.map(([row]) => row),
      bytes: Buffer.concat(singles.map(([, { bytes }]) => bytes)),
    }
  }

  blockWith(row: number): AnswerBlock {
    return this.#held.blockWith(row)
  }

  edited(edits: readonly Edit[]): EditedAnswers {
    const pages = edit(edits, (number) => this.#copyOf(number))
    const rows = edits.flatMap(({ row, after }) => (after ? row : []))
    const bytes = new Uint8Array(rows.length * ROW_BYTES)
    for (const [i, row] of rows.entries()) {
      const page = pages.get(pageOf(row))!
      bytes.set(page.row(page.slotOf(row)), i * ROW_BYTES)
    }
    return { pages: bytesOf(pages), change: { blocks: this.#renewed(rows.length), rows, bytes } }
  }

  take({ change }: EditedAnswers): void {
    this.#held = this.#held.with(change)
    for (const number of change.blocks.keys()) this.#waiting.delete(number)
    for (const number of new Set(change.rows.map(blockOf)))
      this.#waiting.set(number, this.#held.singlesOf(number)!.size)
  }

  #copyOf(number: number): AnswerBlock {
    const first = number * PAGE_ROWS
    const page = new AnswerBlock(new Uint8Array(PAGE_BYTES))
    const block = this.#held.blocks[blockOf(first)]
    if (block) page.bytes.set(block.page(number))
    const singles = this.#held.singlesOf(blockOf(first))
    for (let slot = 0; singles && slot < PAGE_ROWS; slot++) {
      const single = singles.get(first + slot)
      if (single) page.row(slot).set(single.bytes)
    }
    return page
  }

  /** Blocks with what waits beside them, as many as leave room for so many more. */
  #renewed(more: number): Map<number, Uint8Array> {
    const renewed = new Map<number, Uint8Array>()
    let waiting = more
    for (const count of this.#waiting.values()) waiting += count
    for (const [number, count] of this.#waiting) {
      if (waiting <= this.#most) break
      const block = new AnswerBlock(sharedBlock(this.#held.blocks[number]?.bytes))
      for (const [row, { bytes }] of this.#held.singlesOf(number)!) block.row(block.slotOf(row)).set(bytes)
      renewed.set(number, block.bytes)
      waiting -= count
    }
    return renewed
  }
}

/** In the database alone. */
export class StoredAnswers implements Answers {
  readonly shared = NO_ANSWERS
  readonly #read: (page: number) => Uint8Array

  constructor(read: (page: number) => Uint8Array) {
    this.#read = read
  }

  blockWith(row: number): AnswerBlock {
    return new AnswerBlock(this.#read(pageOf(row)))
  }

  edited(edits: readonly Edit[], rows: number): EditedAnswers {
    const pages = edit(edits, (number) => {
      const copy = new Uint8Array(PAGE_BYTES)
      if (number * PAGE_ROWS < rows) copy.set(this.#read(number))
      return new AnswerBlock(copy)
    })
    const blocks = new Map(Array.from(pages.keys(), (number) => [number, undefined]))
    return { pages: bytesOf(pages), change: { ...NO_ANSWERS, blocks } }
  }

  take(): void {}
}
