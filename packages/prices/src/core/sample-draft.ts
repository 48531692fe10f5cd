import { ID_BYTES } from './answer-block.ts'
import { AnswerKinds, CatalogDraft, toRow } from './catalog-draft.ts'
import { DEFAULT_CURRENCY } from './price.ts'
import { drawId } from './seeded-random.ts'
import {
  drawGroup,
  SAMPLE_OFFERINGS,
  generateSamplePrices,
  createSampleRandom,
  createSampleShape,
} from './sample-catalog.ts'
import { Terms } from './terms.ts'

/**
 * The sample catalog as if its prices were put one by one, at a third of what that takes: the rows of an offering are those
 * of the first one, but for their ids, groups and values.
 */
export function createSampleDraft(offerings = SAMPLE_OFFERINGS): CatalogDraft {
  const terms = new Terms()
  const kinds = new AnswerKinds()
  const rows = Array.from(generateSamplePrices(1), (price) => ({
    row: toRow(price, terms),
    kind: kinds.ensureCode(price.priceSpecId, DEFAULT_CURRENCY),
  }))
  const draft = new CatalogDraft(terms, kinds, undefined, rows.length * offerings)
  const random = createSampleRandom()
  const id = new Uint8Array(ID_BYTES)
  let value = 0
  for (const name of createSampleShape(offerings).offerings) {
    const offering = terms.ensureName('offering', name)
    for (const { row, kind } of rows) {
      drawId(random, id)
      draft.append(id, { ...row, offering, group: terms.ensureName('group', drawGroup(random)) }, value++, kind)
    }
  }
  return draft
}
