import type { Blocks } from '../catalog/catalog.ts'
import { AnswerBlock, blockOf, PAGE_BYTES, PAGE_ROWS, pageOf, sharedBlock } from '../core/answers.ts'
import type { Edit } from './edits.ts'

/** Answers with edits made, in memory of their own: readers go on with the old ones. */
export interface EditedAnswers {
  /** What is to be written. */
  readonly pages: Map<number, Uint8Array>
  /** What threads are to be told. */
  readonly blocks: Blocks
}

/** The answers of the catalog, as main has them. */
export interface Answers {
  /** All of them that threads share. */
  readonly shared: Blocks
  blockWith(row: number): AnswerBlock
  edited(edits: readonly Edit[], rows: number): EditedAnswers
  /** What was edited is written. */
  take(edited: EditedAnswers): void
}

/** Copies of what edits touch, with the edits made. @param copy of a block or a page */
function edit(
  edits: readonly Edit[],
  numberOf: (row: number) => number,
  copy: (number: number) => AnswerBlock,
): Map<number, AnswerBlock> {
  const edited = new Map<number, AnswerBlock>()
  for (const { row, after, id, value, kind } of edits) {
    if (!after) continue
    const number = numberOf(row)
    const block = edited.get(number) ?? copy(number)
    edited.set(number, block)
    block.set(block.slotOf(row), id, value, kind)
  }
  return edited
}

const bytesOf = (blocks: Map<number, AnswerBlock>) =>
  new Map(Array.from(blocks, ([number, { bytes }]) => [number, bytes]))

/** In memory that threads share. */
export class SharedAnswers implements Answers {
  readonly #blocks: AnswerBlock[]

  constructor(blocks: AnswerBlock[]) {
    this.#blocks = blocks
  }

  get shared(): Blocks {
    return new Map(this.#blocks.map(({ bytes }, number) => [number, bytes]))
  }

  blockWith(row: number): AnswerBlock {
    return this.#blocks[blockOf(row)]!
  }

  edited(edits: readonly Edit[]): EditedAnswers {
    const blocks = edit(edits, blockOf, (number) => new AnswerBlock(sharedBlock(this.#blocks[number]?.bytes)))
    const pages = new Map<number, Uint8Array>()
    for (const { row, after } of edits) if (after) pages.set(pageOf(row), blocks.get(blockOf(row))!.page(pageOf(row)))
    return { pages, blocks: bytesOf(blocks) }
  }

  take({ blocks }: EditedAnswers): void {
    for (const [number, bytes] of blocks) this.#blocks[number] = new AnswerBlock(bytes!)
  }
}

/** In the database alone. */
export class StoredAnswers implements Answers {
  readonly shared: Blocks = new Map()
  readonly #read: (page: number) => Uint8Array

  constructor(read: (page: number) => Uint8Array) {
    this.#read = read
  }

  blockWith(row: number): AnswerBlock {
    return new AnswerBlock(this.#read(pageOf(row)))
  }

  edited(edits: readonly Edit[], rows: number): EditedAnswers {
    const pages = edit(edits, pageOf, (number) => {
      const copy = new Uint8Array(PAGE_BYTES)
      if (number * PAGE_ROWS < rows) copy.set(this.#read(number))
      return new AnswerBlock(copy)
    })
    return { pages: bytesOf(pages), blocks: new Map(Array.from(pages.keys(), (number) => [number, undefined])) }
  }

  take(): void {}
}
