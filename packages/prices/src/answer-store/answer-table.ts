import { AnswerBlock, toBlockNumber, ROW_BYTES } from '../core/answer-block.ts'

/**
 * Blocks of answers by their number. If answers are only in the database, the keys are the numbers of the changed pages,
 * and the values are undefined.
 */
export type AnswerBlocks = ReadonlyMap<number, Uint8Array | undefined>

/** A change of answers. */
export interface AnswerChange {
  /** Rebuilt blocks, with all earlier changes. */
  readonly blocks: AnswerBlocks
  /** Rows of single answers that blocks do not contain yet. */
  readonly rows: readonly number[]
  /** The answer data of these rows, one after the other. */
  readonly bytes: Uint8Array
}

export const NO_ANSWERS: AnswerChange = { blocks: new Map(), rows: [], bytes: new Uint8Array(0) }

/** Single answers of one block, by row. */
type SingleAnswers = ReadonlyMap<number, AnswerBlock>

/**
 * Answers in memory: blocks that threads share, plus single answers that changed later. So a change need not copy a block,
 * which is 500 times as large as an answer. A table is immutable; `with` creates the next one.
 */
export class AnswerTable {
  readonly blocks: readonly AnswerBlock[]
  /** Single answers by block, if there are any. */
  readonly #singles: readonly (SingleAnswers | undefined)[]

  private constructor(blocks: readonly AnswerBlock[], singles: readonly (SingleAnswers | undefined)[]) {
    this.blocks = blocks
    this.#singles = singles
  }

  static fromBlocks(blocks: readonly AnswerBlock[]): AnswerTable {
    return new AnswerTable(blocks, [])
  }

  /** Returns the block that contains the answer of a row. */
  getBlock(row: number): AnswerBlock {
    const number = toBlockNumber(row)
    return this.#singles[number]?.get(row) ?? this.blocks[number]!
  }

  /** Returns the answers that a block does not contain yet. */
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
