import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatNames, formatReceived, formatText, isSecretName } from '../src/received-value.ts'

describe('a received value', () => {
  test.each([
    ['abc', '"abc"'],
    ['', '""'],
    [7, '7'],
    [null, 'null'],
    [true, 'true'],
    [undefined, 'no value'],
    [Infinity, 'Infinity'],
    [[], 'an empty array'],
    [['a', 1], '["a", 1]'],
    [[{ token: 'hunter2' }], 'an array of 1 item'],
    [Array(9).fill(1), 'an array of 9 items'],
    [{}, 'an empty object'],
    [{ a: 'hunter2', token: 'hunter2' }, 'an object with a, token'],
    [Buffer.from('ä'), '"ä"'],
    ['say "hi" \\', '"say \\"hi\\" \\\\"'],
    ['a\u0000b\nc\u001b[31m', '"a\\u0000b\\u000ac\\u001b[31m"'],
    ['\u202eabc\u2028\ud800', '"\\u202eabc\\u2028\\ud800"'],
    ['x'.repeat(300), `"${'x'.repeat(100)}..." (300 characters)`],
  ])('%j', (value, text) => expect(formatReceived(value)).toBe(text))

  test('credentials of a URL are not shown', () => {
    for (const url of [
      'http://user:hunter2@host/path',
      'https://host/?access_token=hunter2&x=1',
      'https://host/?a=1&key=hunter2',
      'http://host/#api_key=hunter2',
      `${'x'.repeat(80)}http://user:hunter2@host/`,
    ])
      expect(formatReceived(url)).not.toContain('hunter2')
    expect(formatReceived('https://youtu.be/abc?t=7')).toBe('"https://youtu.be/abc?t=7"')
  })

  test('is bounded and has no control character, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        for (const shown of [formatReceived(text), formatText(text), formatReceived([text]), formatNames([text])]) {
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
          expect(shown.length).toBeLessThan(140)
        }
      }),
      { numRuns: 50 },
    )
    expect(formatReceived(`http://user:${'p'.repeat(5_000)}@host`)).not.toContain('ppp')
    expect(formatNames(Array(100).fill('x'.repeat(500))).length).toBeLessThan(3_000)
  })
})

test('names of secrets', () => {
  for (const name of ['access_token', 'token', 'apiKey', 'api-key', 'key', 'password', 'Authorization', 'cookie'])
    expect(isSecretName(name)).toBe(true)
  for (const name of ['keys', 'id', 'topic', 'keysOnly', 'tokens_per_day']) expect(isSecretName(name)).toBe(false)
})
