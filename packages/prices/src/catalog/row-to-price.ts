import type { AnswerBlock } from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import { FIRST_MOMENT, formatEnd, formatStart, LAST_MOMENT } from '../core/values/moment.ts'
import type { Price } from '../core/price.ts'
import type { PriceRow } from '../core/row-table.ts'
import type { Term, Terms } from '../core/terms.ts'
import { formatId } from '../core/price-id.ts'

/**
 * Returns all data of a row as a price.
 * @param block the block with the answer of the row
 */
export function toPrice(number: number, row: PriceRow, block: AnswerBlock, terms: Terms, words: AnswerWords): Price {
  const slot = block.toSlot(number)
  const text = (term: number) => (terms.list[term] as { text: string }).text
  return {
    id: formatId(block.getId(slot), words),
    offeringId: text(row.offering),
    groupId: text(row.group),
    priceSpecId: text(row.spec),
    charValues: Array.from(row.values, (term) => {
      const { char, value } = terms.list[term] as Term & { kind: 'value' }
      return { char: text(char), value }
    }),
    value: block.getAmount(slot, words),
    currency: words.getKind(block.getKind(slot)).currency,
    ...(row.isDefault && { default: true }),
    ...(row.from !== FIRST_MOMENT && { from: formatStart(row.from) }),
    ...(row.to !== LAST_MOMENT && { to: formatEnd(row.to) }),
  }
}
