import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { parseJson } from './oracle/json-text.ts'
import { applyChange, type ModelChange } from './oracle/model-changes.ts'
import type { Prices } from './oracle/model-price.ts'
import { createPrice, startPrices, toUuid } from './support/prices.ts'

/** A fault of a price. Its fields are added to those of other faults, and its characteristics behind theirs. */
interface Fault {
  readonly fields?: object
  readonly charValues?: readonly object[]
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'an unknown currency': { fields: { currency: 'eur' } },
  'a reversed range': { charValues: [{ char: 'seats', value: { from: 9, to: 1 } }] },
  'the id of another price': { fields: { id: toUuid(9) } },
  'an invalid id': { fields: { id: '\n' } },
  'a repeated characteristic': {
    charValues: [
      { char: 'x', value: '1' },
      { char: 'x', value: '1' },
    ],
  },
  'an end before the start': { fields: { from: '2026-02-02', to: '2026-02-01' } },
  'a value that cannot be stored': { fields: { value: '1,5' } },
  'a value of another type': { charValues: [{ char: 'n', value: 'text' }] },
}

it('a price or patch with two faults is refused for the reason that the model expects', async () => {
  const prices = await startPrices({ data: createTemporaryFolder() })
  const stored = [1, 2].map((n) => createPrice({ id: toUuid(n), charValues: [{ char: 'n', value: n }] }))
  await prices.import(stored)
  const lines = stored.map((price) => parseJson(JSON.stringify(price)))
  const model: Prices = applyChange(new Map(), { type: 'import', lines, replace: false, empty: false }).prices
  const { id: _, ...valid } = createPrice()
  for (const [one, first] of Object.entries(FAULTS))
    for (const [other, second] of Object.entries(FAULTS))
      for (const type of ['put', 'patch'] as const)
        for (const id of [toUuid(1), toUuid(3)]) {
          const charValues = [...(first.charValues ?? []), ...(second.charValues ?? [])]
          const part = { ...first.fields, ...second.fields, ...(charValues.length > 0 && { charValues }) }
          const body = JSON.stringify(type === 'put' ? { ...valid, ...part } : part)
          const change: ModelChange = { type, id, body: parseJson(body) }
          const expected = applyChange(model, change).reply
          const received = await prices.request(type.toUpperCase(), `/prices/${id}`, body)
          expect([received.status, received.body.code], `${type} of ${id}: ${one}, ${other}`).toEqual([
            expected.status,
            expected.code,
          ])
        }
  await prices.stop()
})
