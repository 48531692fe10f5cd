import { ID_BYTES } from '../core/answer-block.ts'
import { AnswerWords } from '../core/answer-words.ts'
import { CatalogDraft } from '../core/catalog-draft.ts'
import { toRow } from '../core/encode-price.ts'
import { DEFAULT_CURRENCY } from '../core/price.ts'
import { drawId } from './seeded-random.ts'
import {
  drawGroup,
  SAMPLE_OFFERINGS,
  generateSamplePrices,
  createSampleRandom,
  createSampleShape,
} from './sample-catalog.ts'
import { Terms } from '../core/terms.ts'

/**
 * Creates the sample catalog with the same result as single puts, in a third of their time. The rows of every offering
 * repeat those of the first one, except for ids, groups and values.
 */
export function createSampleDraft(offerings = SAMPLE_OFFERINGS): CatalogDraft {
  const terms = new Terms()
  const words = new AnswerWords()
  const rows = Array.from(generateSamplePrices(1), (price) => ({
    row: toRow(price, terms),
    kind: words.ensure({ spec: price.priceSpecId, currency: DEFAULT_CURRENCY }),
  }))
  const draft = new CatalogDraft(terms, words, rows.length * offerings)
  const random = createSampleRandom()
  const id = new Uint8Array(ID_BYTES)
  let value = 0
  for (const name of createSampleShape(offerings).offerings) {
    const offering = terms.ensureName('offering', name)
    for (const { row, kind } of rows) {
      drawId(random, id)
      const group = terms.ensureName('group', drawGroup(random))
      draft.append({ id, row: { ...row, offering, group }, value: value++, kind })
    }
  }
  return draft
}
