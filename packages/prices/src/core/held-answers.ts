import { AnswerBlock, blockOf, ROW_BYTES } from './answers.ts'

/** Blocks of answers by their number; pages by theirs where no catalog holds blocks, and then without their bytes. */
export type Blocks = ReadonlyMap<number, Uint8Array | undefined>

/** Answers that changed. */
export interface AnswerChange {
  /** Made anew, with all that changed before this. */
  readonly blocks: Blocks
  /** Single ones that blocks do not have yet: their rows, */
  readonly rows: readonly number[]
  /** and what is needed to answer with each, one after the other. */
  readonly bytes: Uint8Array
}

export const NO_ANSWERS: AnswerChange = { blocks: new Map(), rows: [], bytes: new Uint8Array(0) }

/** Those of one block, by row. */
type Singles = ReadonlyMap<number, AnswerBlock>

/**
 * Answers in memory: blocks that threads share, and beside them single answers that changed since: a block is 500 times as
 * large. It never changes; `with` makes the next.
 */
export class HeldAnswers {
  readonly blocks: readonly AnswerBlock[]
  /** By block, where there are any. */
  readonly #singles: readonly (Singles | undefined)[]

  private constructor(blocks: readonly AnswerBlock[], singles: readonly (Singles | undefined)[]) {
    this.blocks = blocks
    this.#singles = singles
  }

  static of(blocks: readonly AnswerBlock[]): HeldAnswers {
    return new HeldAnswers(blocks, [])
  }

  /** Where the answer of a row lies. */
  blockWith(row: number): AnswerBlock {
    const number = blockOf(row)
    return this.#singles[number]?.get(row) ?? this.blocks[number]!
  }

  /** What a block does not have. */
  singlesOf(block: number): Singles | undefined {
    return this.#singles[block]
  }

  with({ blocks: changed, rows, bytes }: AnswerChange): HeldAnswers {
    const blocks = this.blocks.slice()
    const singles = this.#singles.slice()
    for (const [number, block] of [...changed].sort(([a], [b]) => a - b)) {
      blocks[number] = new AnswerBlock(block!)
      singles[number] = undefined
    }
    const own = new Map<number, Map<number, AnswerBlock>>()
    for (const [i, row] of rows.entries()) {
      const number = blockOf(row)
      let ofBlock = own.get(number)
      if (!ofBlock) {
        own.set(number, (ofBlock = new Map(singles[number])))
        while (singles.length < number) singles.push(undefined)
        singles[number] = ofBlock
      }
      ofBlock.set(row, new AnswerBlock(bytes.subarray(i * ROW_BYTES, (i + 1) * ROW_BYTES)))
    }
    return new HeldAnswers(blocks, singles)
  }
}
