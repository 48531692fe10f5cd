import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareAmounts, formatAmount, parseAmount } from '../src/core/values/amount.ts'

/** A decimal as a fraction of two integers, without the code under test. */
function toFraction(text: string): [numerator: bigint, denominator: bigint] {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const power = Number(exponent) - fraction.length
  const numerator = BigInt(whole + fraction)
  return power >= 0 ? [numerator * 10n ** BigInt(power), 1n] : [numerator, 10n ** BigInt(-power)]
}

const decimalText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constantFrom('0', '1', '10', '9007199254740992', '9007199254740993'), fc.bigInt(0n, 10n ** 20n)),
    fc.oneof(fc.constantFrom('', '.0', '.1', '.10', '.100'), fc.stringMatching(/^\.\d{1,13}$/)),
    fc.constantFrom('', '', 'e0', 'E1', 'e-1', 'e+3'),
  )
  .map((parts) => parts.join(''))

describe('amounts', () => {
  it('are returned as they were written', () => {
    fc.assert(fc.property(decimalText, (text) => void expect(formatAmount(parseAmount(text)!)).toBe(text)))
  })

  it('are numbers only if a double has the same digits', () => {
    expect(['1', '1.5', '-3', '0', '1e+21', '9007199254740992'].map(parseAmount)).toEqual([
      1, 1.5, -3, 0, 1e21, 9007199254740992,
    ])
    expect(['1.10', '-0', '1e3', '9007199254740993', '0.0'].map(parseAmount)).toEqual([
      '1.10',
      '-0',
      '1e3',
      '9007199254740993',
      '0.0',
    ])
  })

  it('are compared exactly', () => {
    fc.assert(
      fc.property(decimalText, decimalText, (a, b) => {
        const [[an, ad], [bn, bd]] = [toFraction(a), toFraction(b)]
        const [left, right] = [an * bd, bn * ad]
        const expected = left === right ? 0 : left < right ? -1 : 1
        expect(Math.sign(compareAmounts(parseAmount(a)!, parseAmount(b)!)) + 0).toBe(expected)
      }),
    )
    expect(compareAmounts('9007199254740993', 9007199254740992)).toBeGreaterThan(0)
    expect(compareAmounts('1.10', 1.1)).toBe(0)
  })

  it('have at most 34 significant digits, and the range of a double', () => {
    const digits = '1234567890123456789012345678901234'
    expect(parseAmount(digits)).toBe(digits)
    expect(parseAmount(`0.00${digits}`)).toBe(`0.00${digits}`)
    for (const text of [`${digits}5`, `${digits}.0`, '1e400', '1e-400', '+1', '01', '1.', '.5', 'NaN', '', ' 1', '0x1'])
      expect([text, parseAmount(text)]).toEqual([text, undefined])
  })
})
