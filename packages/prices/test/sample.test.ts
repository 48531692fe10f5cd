import { describe, expect, it } from 'vitest'
import { AnswerKinds, Draft } from '../src/core/draft.ts'
import { draftSample } from '../src/core/sample-draft.ts'
import { samplePrices } from '../src/core/sample.ts'
import { Terms } from '../src/core/terms.ts'

const OFFERINGS = 3

describe('the sample catalog', () => {
  it('is drawn as if its prices were put one by one', () => {
    const put = new Draft(new Terms(), new AnswerKinds())
    for (const price of samplePrices(OFFERINGS)) expect(put.put(price)).toBeUndefined()
    const drawn = draftSample(OFFERINGS)

    expect(drawn.size).toBe(put.size)
    expect(drawn.terms.list).toEqual(put.terms.list)
    expect(drawn.kinds.list).toEqual(put.kinds.list)
    const rowsOf = (draft: Draft) => Buffer.from(draft.table().encode(0, draft.size))
    expect(rowsOf(drawn).equals(rowsOf(put))).toBe(true)
    const answersOf = ({ blocks }: Draft) => Buffer.concat(blocks.map(({ bytes }) => bytes))
    expect(answersOf(drawn).equals(answersOf(put))).toBe(true)
  })

  it('has no id twice, and finds each', () => {
    const drawn = draftSample()
    expect(drawn.size).toBe(487_200)
    let wrong = 0
    for (let row = 0; row < drawn.size; row++) if (drawn.ids.find(drawn.idOf(row)) !== row) wrong++
    expect(wrong).toBe(0)
  })
})
