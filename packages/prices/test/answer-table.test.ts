import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerBlock, BLOCK_ROWS, PAGE_ROWS, toPageNumber, createSharedBlock } from '../src/core/answer-block.ts'
import { AnswerWords } from '../src/core/answer-words.ts'
import { AnswerTable, NO_ANSWERS } from '../src/answer-store/answer-table.ts'
import { FIRST_MOMENT, LAST_MOMENT } from '../src/core/values/moment.ts'
import { SharedAnswers } from '../src/catalog/catalog-answers.ts'

// After any changes, the main thread, an updated thread and a new thread return the same answers. Old views stay
// unchanged.

const BLOCKS = 3
const NO_WORDS = new AnswerWords()
/** A small limit, so that blocks are rebuilt all the time. */
const MAX_PENDING = 6

const ROW = {
  offering: 0,
  group: 0,
  spec: 0,
  values: [],
  isDefault: false,
  chars: 0,
  from: FIRST_MOMENT,
  to: LAST_MOMENT,
}
const createId = (row: number, value: number) => new Uint8Array(16).fill((row + value) % 251)

type AnswerFields = readonly [id: number, value: number, kind: number]
type BlockReader = Pick<AnswerTable, 'getBlock'>

function readAnswer(answers: BlockReader, row: number): AnswerFields {
  const block = answers.getBlock(row)
  const slot = block.toSlot(row)
  return [block.getId(slot)[15]!, block.getDouble(slot), block.getKind(slot)]
}

const row = fc.nat({ max: BLOCKS * BLOCK_ROWS - 1 })
// Adjacent rows, and new rows after all others.
const editedRow = fc.oneof(
  row,
  fc.constantFrom(0, 1, PAGE_ROWS - 1, PAGE_ROWS, BLOCK_ROWS - 1, BLOCK_ROWS),
  fc.constant('new'),
)
const group = fc.array(fc.record({ place: editedRow, value: fc.nat(), isRemoved: fc.boolean() }), {
  minLength: 1,
  maxLength: 5,
})

it('a limited number of single answers wait for their blocks, and every answer is found', () => {
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 40 }), (groups) => {
      const blocks = Array.from({ length: BLOCKS }, () => new AnswerBlock(createSharedBlock()))
      const oracle = new Map<number, AnswerFields>()
      for (let known = 0; known < BLOCKS * BLOCK_ROWS; known++) {
        blocks[Math.floor(known / BLOCK_ROWS)]!.set(known % BLOCK_ROWS, createId(known, 1), 1, 1, NO_WORDS)
        oracle.set(known, [(known + 1) % 251, 1, 1])
      }
      let rows = BLOCKS * BLOCK_ROWS
      const main = new SharedAnswers(blocks, MAX_PENDING)
      let threadAnswers = AnswerTable.fromBlocks([]).with(structuredClone(main.shared))
      const older: [AnswerTable, Map<number, AnswerFields>][] = []
      for (const one of groups) {
        older.push([threadAnswers, new Map(oracle)])
        const edits = new Map<number, { value: number; isRemoved: boolean }>()
        for (const { place: at, value, isRemoved: gone } of one)
          edits.set(at === 'new' ? rows++ : at, { value, isRemoved: gone })
        const edited = main.applyEdits(
          Array.from(edits, ([number, { value, isRemoved: gone }]) => ({
            row: number,
            before: ROW,
            after: gone ? undefined : ROW,
            id: createId(number, value),
            value,
            kind: value % 7,
          })),
          rows,
          NO_WORDS,
        )
        for (const [number, { value, isRemoved: gone }] of edits)
          if (!gone) oracle.set(number, [(number + value) % 251, value, value % 7])
        for (const [page, bytes] of edited.pages)
          for (let i = 0; i < PAGE_ROWS; i++) {
            const known = oracle.get(page * PAGE_ROWS + i)
            if (known) expect(readAnswer({ getBlock: () => new AnswerBlock(bytes) }, i)).toEqual(known)
          }
        const written = [...edits].filter(([, { isRemoved: gone }]) => !gone).map(([number]) => toPageNumber(number))
        expect(new Set(edited.pages.keys())).toEqual(new Set(written))
        main.commitEdits(edited)
        threadAnswers = threadAnswers.with(structuredClone(edited.change))
        // The next group rebuilds blocks to make space for its answers.
        expect(main.shared.rows.length).toBeLessThanOrEqual(Math.max(MAX_PENDING, edits.size))
      }
      const late = AnswerTable.fromBlocks([]).with(structuredClone(main.shared))
      for (const answers of [main, threadAnswers, late])
        for (const [number, answer] of oracle) expect(readAnswer(answers, number)).toEqual(answer)
      for (const [answers, known] of older.slice(-3))
        for (const [number, answer] of known) expect(readAnswer(answers, number)).toEqual(answer)
    }),
    { numRuns: 30 },
  )
})

it('an empty change has no effect', () => {
  const block = new AnswerBlock(createSharedBlock())
  block.set(3, createId(3, 4), 4, 0, NO_WORDS)
  expect(readAnswer(AnswerTable.fromBlocks([block]).with(NO_ANSWERS), 3)).toEqual([7, 4, 0])
})
