import { AnswerBlock, toBlockNumber, ROW_BYTES } from './answer-block.ts'

/** Blocks of answers by their number; pages by theirs where no catalog holds blocks, and then without their bytes. */
export type AnswerBlocks = ReadonlyMap<number, Uint8Array | undefined>

/** Answers that changed. */
export interface AnswerChange {
  /** Made anew, with all that changed before this. */
  readonly blocks: AnswerBlocks
  /** Single ones that blocks do not have yet: their rows, */
  readonly rows: readonly number[]
  /** and what is needed to answer with each, one after the other. */
  readonly bytes: Uint8Array
}

export const NO_ANSWERS: AnswerChange = { blocks: new Map(), rows: [], bytes: new Uint8Array(0) }

/** Those of one block, by row. */
type SingleAnswers = ReadonlyMap<number, AnswerBlock>

/**
 * Answers in memory: blocks that threads share, and beside them single answers that changed since: a block is 500 times as
 * large. It never changes; `with` makes the next.
 */
export class AnswerTable {
  readonly blocks: readonly AnswerBlock[]
  /** By block, where there are any. */
  readonly #singles: readonly (SingleAnswers | undefined)[]

  private constructor(blocks: readonly AnswerBlock[], singles: readonly (SingleAnswers | undefined)[]) {
    this.blocks = blocks
    this.#singles = singles
  }

  static fromBlocks(blocks: readonly AnswerBlock[]): AnswerTable {
    return new AnswerTable(blocks, [])
  }

  /** Where the answer of a row lies. */
  getBlock(row: number): AnswerBlock {
    const number = toBlockNumber(row)
    return this.#singles[number]?.get(row) ?? this.blocks[number]!
  }

  /** What a block does not have. */
  getSingles(block: number): SingleAnswers | undefined {
    return this.#singles[block]
  }

  with({ blocks: changedBlocks, rows, bytes }: AnswerChange): AnswerTable {
    const blocks = this.blocks.slice()
    const singles = this.#singles.slice()
    for (const [number, block] of [...changedBlocks].sort(([a], [b]) => a - b)) {
      blocks[number] = new AnswerBlock(block!)
      singles[number] = undefined
    }
    const copies = new Map<number, Map<number, AnswerBlock>>()
    for (const [i, row] of rows.entries()) {
      const number = toBlockNumber(row)
      let blockSingles = copies.get(number)
      if (!blockSingles) {
        copies.set(number, (blockSingles = new Map(singles[number])))
        while (singles.length < number) singles.push(undefined)
        singles[number] = blockSingles
      }
      blockSingles.set(row, new AnswerBlock(bytes.subarray(i * ROW_BYTES, (i + 1) * ROW_BYTES)))
    }
    return new AnswerTable(blocks, singles)
  }
}
