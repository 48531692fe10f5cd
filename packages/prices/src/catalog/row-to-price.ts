import type { AnswerBlock, AnswerKinds } from '../core/answer-block.ts'
import { FIRST_MOMENT, formatEnd, formatStart, LAST_MOMENT } from '../core/moment.ts'
import type { Price } from '../core/price.ts'
import type { PriceRow } from '../core/row-table.ts'
import type { Term, Terms } from '../core/terms.ts'
import { formatUuid } from '../core/uuid.ts'

/**
 * Returns all data of a row as a price.
 * @param block the block with the answer of the row
 */
export function toPrice(number: number, row: PriceRow, block: AnswerBlock, terms: Terms, kinds: AnswerKinds): Price {
  const slot = block.toSlot(number)
  const text = (term: number) => (terms.list[term] as { text: string }).text
  return {
    id: formatUuid(block.getId(slot)),
    offeringId: text(row.offering),
    groupId: text(row.group),
    priceSpecId: text(row.spec),
    charValues: Array.from(row.values, (term) => {
      const { char, value } = terms.list[term] as Term & { kind: 'value' }
      return { char: text(char), value }
    }),
    value: block.getValue(slot),
    currency: kinds.list[block.getKind(slot)]!.currency,
    ...(row.isDefault && { default: true }),
    ...(row.from !== FIRST_MOMENT && { from: formatStart(row.from) }),
    ...(row.to !== LAST_MOMENT && { to: formatEnd(row.to) }),
  }
}
