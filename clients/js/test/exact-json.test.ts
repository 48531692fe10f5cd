import { expect, it } from 'vitest'
import { parseExactJson } from '../src/core/exact-json.ts'

it.each([
  ['{"value":9.5}', { value: 9.5 }],
  ['{"value":1.10}', { value: '1.10' }],
  ['{"value":9007199254740993,"id":1.10}', { value: '9007199254740993', id: 1.1 }],
  ['{"value" : -0.50}', { value: '-0.50' }],
  ['{"value":1e3}', { value: '1e3' }],
  ['{"id":"\\"value\\":1.10","value":2}', { id: '"value":1.10', value: 2 }],
  ['{"id":"\\\\","value":2.0}', { id: '\\', value: '2.0' }],
  ['{"range":[{"min":1.10,"max":2,"count":3}]}', { range: [{ min: '1.10', max: 2, count: 3 }] }],
  ['{"charValues":[{"char":"value","value":"1.10"}]}', { charValues: [{ char: 'value', value: '1.10' }] }],
  [
    '{"charValues":[{"char":"seats","value":{"from":1,"to":2}}]}',
    { charValues: [{ char: 'seats', value: { from: 1, to: 2 } }] },
  ],
])('parses %s', (json, parsed) => {
  expect(parseExactJson(json)).toEqual(parsed)
})

it('reads a text of a megabyte', () => {
  const id = '\\"'.repeat(500_000)
  expect(parseExactJson(`{"id":"${id}","value":1.0}`)).toEqual({ id: '"'.repeat(500_000), value: '1.0' })
})
