import type { AnswerBlock } from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import { FIRST_MOMENT, formatEnd, formatStart, LAST_MOMENT } from '../core/values/moment.ts'
import type { CharValue, Price } from '../core/price.ts'
import type { PriceRow } from '../core/row-table.ts'
import type { Term, Terms } from '../core/terms.ts'
import type { TermValue } from '../core/values/term-value.ts'
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
    charValues: toCharValues(row.values, terms),
    value: block.getAmount(slot, words),
    currency: words.getKind(block.getKind(slot)).currency,
    ...(row.isDefault && { default: true }),
    ...(row.from !== FIRST_MOMENT && { from: formatStart(row.from) }),
    ...(row.to !== LAST_MOMENT && { to: formatEnd(row.to) }),
  }
}

/** Adjacent values of one characteristic are a list. */
function toCharValues(values: PriceRow['values'], { list }: Terms): CharValue[] {
  const lists: { readonly char: number; readonly values: TermValue[] }[] = []
  for (const term of values) {
    const { char, value } = list[term] as Term & { kind: 'value' }
    const last = lists.at(-1)
    if (last?.char === char) last.values.push(value)
    else lists.push({ char, values: [value] })
  }
  return lists.map(({ char, values: some }) => ({
    char: (list[char] as { text: string }).text,
    value: some.length === 1 ? some[0]! : some,
  }))
}
