import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseAmount } from '../src/core/values/amount.ts'
import { AnswerBlock, ROW_BYTES } from '../src/core/answer-block.ts'
import { AnswerWords } from '../src/core/answer-words.ts'
import { parsePriceJson, stringifyPrice } from '../src/core/price-json.ts'
import { ensureId, findId, formatId, isTextId } from '../src/core/price-id.ts'

const amountText = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,16})?([eE][+-]?\d{1,2})?$/),
  fc.constantFrom('9.90', '-9.90', '0.10', '-0', '-0.0', '0.000000000000001', '70368744177663.5', '7036874417766.4'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
)
const NAMES = fc.constantFrom('"value":1.10', ']"value":7', 'a]', '"', '\\"value\\":8')

it('an answer holds every value as it was written', () => {
  const words = new AnswerWords()
  const block = new AnswerBlock(new Uint8Array(3 * ROW_BYTES))
  fc.assert(
    fc.property(amountText, fc.nat(2), (text, slot) => {
      block.set(slot, new Uint8Array(16), parseAmount(text)!, 0, words)
      expect(String(block.getAmount(slot, words))).toBe(text)
    }),
  )
  // Values with few digits, such as those of a price list, take no memory beyond the row.
  const few = new AnswerWords()
  for (const text of ['9.90', '1234567.00', '-0.50', '12', '0.1'])
    block.set(0, new Uint8Array(16), parseAmount(text)!, 0, few)
  expect(few.list).toEqual([])
})

it('the JSON of a price keeps the digits of its value, wherever it is', () => {
  const name = fc.oneof(fc.string(), NAMES)
  fc.assert(
    fc.property(amountText, name, name, fc.boolean(), fc.constantFrom('', ' '), (value, char, id, isFirst, space) => {
      const field = `"value":${space}${value}`
      const rest = `"id":${JSON.stringify(id)},"charValues":[{"char":${JSON.stringify(char)},"value":12}]`
      const text = isFirst ? `{${field},${rest}}` : `{${rest},${field}}`
      const price = parsePriceJson(text) as { value: number | string }
      expect(String(price.value)).toBe(value)
      expect(price).toEqual({ ...JSON.parse(text), value: price.value })
      expect(stringifyPrice(price as never)).toContain(`"value":${value}`)
    }),
  )
})

it('an id of any text has 16 bytes, and UUIDs no text', () => {
  const words = new AnswerWords()
  const marked = 'A0000000-ffff-ffff-ffff-ffffffffffff'
  const id = fc.oneof(
    fc.uuid(),
    fc.uuid().map((uuid) => uuid.toUpperCase()),
    fc.string({ minLength: 1 }),
    fc.constant(marked),
  )
  fc.assert(
    fc.property(id, (one) => {
      const bytes = ensureId(one, words)
      expect(bytes.length).toBe(16)
      const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(one)
      expect(formatId(bytes, words)).toBe(isUuid ? one.toLowerCase() : one)
      expect(findId(one, words)).toEqual(bytes)
      expect(isTextId(bytes)).toBe(!isUuid || one === marked)
    }),
  )
  expect(findId('unknown', new AnswerWords())).toBeUndefined()
})
