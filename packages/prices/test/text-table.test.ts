import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TextTable } from '../src/core/text-table.ts'
import { measureCpuSeconds } from './support/catalog.ts'

function findBytes(table: TextTable, text: string): number {
  const bytes = Buffer.from(`"${text}"`)
  return table.findBytes(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 1)
}

it('finds every text, added at any time', () => {
  const unit = fc.constantFrom('a', 'b', '0', '"', 'ö', '-')
  const text = fc.oneof(
    fc.string({ unit, maxLength: 12 }),
    fc.uuid(),
    fc.nat(400).map((i) => `same-${i}-same`),
  )
  let inBytes = 0
  fc.assert(
    fc.property(fc.array(text, { maxLength: 150 }), fc.array(text, { maxLength: 20 }), (texts, others) => {
      const table = new TextTable()
      const known = new Map<string, number>()
      for (const [code, one] of new Set(texts).entries().map(([one], i) => [i, one] as const)) {
        table.set(one, code)
        known.set(one, code)
        for (const text of [one, texts[0]!, texts[code]!, ...others]) {
          expect(table.find(text)).toBe(known.get(text) ?? -1)
          const found = findBytes(table, text)
          // A text ends at the first quote.
          if (found >= 0) expect([text, found]).toEqual([text, known.get(text.split('"', 1)[0]!)])
          if (found >= 0) inBytes++
          else if (/^[a-z0-9-]+$/.test(text)) expect(known.has(text)).toBe(false)
        }
      }
    }),
    { numRuns: 200 },
  )
  expect(inBytes).toBeGreaterThan(1_000)
})

it.each([4_000, 50_000])('a new text costs little among %i texts', async (textCount) => {
  const table = new TextTable()
  let last = 0
  const add = () => table.set(`offering ${++last} of many`, last)
  for (let i = 0; i < textCount; i++) add()
  findBytes(table, 'offering 1 of many')
  const cost = await measureCpuSeconds(() => {
    for (let i = 0; i < 90; i++) {
      add()
      expect(findBytes(table, `offering ${last} of many`)).toBe(last)
    }
  })
  expect(cost).toBeLessThan(0.3)
})
