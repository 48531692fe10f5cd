import { describe, expect, it } from 'vitest'
import { CatalogDraft } from '../src/core/catalog-draft.ts'
import { createSampleDraft } from '../src/sample/sample-draft.ts'
import { generateSamplePrices } from '../src/sample/sample-catalog.ts'
import { Terms } from '../src/core/terms.ts'

const OFFERING_COUNT = 3

describe('the sample catalog', () => {
  it('equals the result of single puts', () => {
    const put = new CatalogDraft(new Terms())
    for (const price of generateSamplePrices(OFFERING_COUNT)) expect(put.put(price)).toBeUndefined()
    const drawn = createSampleDraft(OFFERING_COUNT)

    expect(drawn.size).toBe(put.size)
    expect(drawn.terms.list).toEqual(put.terms.list)
    expect(drawn.words.list).toEqual(put.words.list)
    const encodeRows = (draft: CatalogDraft) => Buffer.from(draft.buildTable().encode(0, draft.size))
    expect(encodeRows(drawn).equals(encodeRows(put))).toBe(true)
    const encodeAnswers = ({ blocks }: CatalogDraft) => Buffer.concat(blocks.map(({ bytes }) => bytes))
    expect(encodeAnswers(drawn).equals(encodeAnswers(put))).toBe(true)
  })

  it('has unique ids, and finds each', () => {
    const drawn = createSampleDraft()
    expect(drawn.size).toBe(487_200)
    let wrong = 0
    for (let row = 0; row < drawn.size; row++) if (drawn.ids.find(drawn.getId(row)) !== row) wrong++
    expect(wrong).toBe(0)
  })
})
