import { ID_BYTES } from './answers.ts'
import { AnswerKinds, Draft, toRow } from './draft.ts'
import { DEFAULT_CURRENCY } from './price.ts'
import { seededId } from './random.ts'
import { drawGroup, OFFERINGS, samplePrices, sampleRandom, sampleShape } from './sample.ts'
import { Terms } from './terms.ts'

/**
 * The sample catalog as if its prices were put one by one, at a third of what that takes: the rows of an offering are those
 * of the first one, but for their ids, groups and values.
 */
export function draftSample(offerings = OFFERINGS): Draft {
  const terms = new Terms()
  const kinds = new AnswerKinds()
  const rows = Array.from(samplePrices(1), (price) => ({
    row: toRow(price, terms),
    kind: kinds.codeOf(price.priceSpecId, DEFAULT_CURRENCY),
  }))
  const draft = new Draft(terms, kinds, undefined, rows.length * offerings)
  const random = sampleRandom()
  const id = new Uint8Array(ID_BYTES)
  let value = 0
  for (const name of sampleShape(offerings).offerings) {
    const offering = terms.name('offering', name)
    for (const { row, kind } of rows) {
      seededId(random, id)
      draft.append(id, { ...row, offering, group: terms.name('group', drawGroup(random)) }, value++, kind)
    }
  }
  return draft
}
