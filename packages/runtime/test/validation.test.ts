import { describe, expect, test } from 'vitest'
import { describePattern, describeValidationError } from '../src/schema/validation-errors.ts'
import { createValidator, NAME_PATTERN, TEXT_PATTERN } from '../src/schema/validation.ts'

const fail = (schema: object, value: unknown, part = 'body') => {
  const validate = createValidator(schema, part)
  expect(validate(value)).toBe(false)
  return describeValidationError(validate.errors!, part)
}
const of = (schema: object) => ({ type: 'object', properties: { x: schema } })
const x = (schema: object, value: unknown, part = 'body') => fail(of(schema), { x: value }, part)

const text = { type: 'string', minLength: 1, maxLength: 256 }
const integer = { type: 'integer', minimum: -5, maximum: 5 }
const branch = (ops: readonly string[], value: object, required = ['char', 'value']) => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties: { char: text, op: { type: 'string', enum: ops }, value },
})
const list = { type: 'array', maxItems: 3, items: { anyOf: [text, integer] } }
const condition = {
  anyOf: [
    branch(['equals', 'not'], { anyOf: [text, integer] }),
    branch(['in', 'notIn'], list, ['char', 'op', 'value']),
    branch(['between'], { ...list, minItems: 2, maxItems: 2 }, ['char', 'op', 'value']),
  ],
}

describe('a validation error names the field, the allowed values and the received value', () => {
  test.each([
    [text, null, 'body/x must be a string of 1 to 256 characters; received null'],
    [text, '', 'body/x must be a string of 1 to 256 characters; received ""'],
    [{ type: 'string' }, 1, 'body/x must be a string; received 1'],
    [{ type: 'string', minLength: 1 }, '', 'body/x must be a string of at least 1 character; received ""'],
    [{ type: 'string', maxLength: 3 }, 'abcd', 'body/x must be a string of at most 3 characters; received "abcd"'],
    [
      { ...text, pattern: NAME_PATTERN },
      'a\u0000',
      'body/x must be a string of 1 to 256 whole characters (no NUL); received "a\\u0000"',
    ],
    [
      { type: 'string', pattern: TEXT_PATTERN },
      '\ud800',
      'body/x must be a string of whole characters; received "\\ud800"',
    ],
    [
      { type: 'string', pattern: '^[A-Z]{2}$' },
      'eur',
      'body/x must be a string that matches ^[A-Z]{2}$; received "eur"',
    ],
    [
      { type: 'string', pattern: '^[A-Z]{2}$', examples: ['DE'] },
      'x',
      'body/x must be a string that matches ^[A-Z]{2}$, such as "DE"; received "x"',
    ],
    [
      { type: 'string', pattern: describePattern('^#\\d+$', 'a number sign and digits such as #7') },
      'x',
      'body/x must be a number sign and digits such as #7; received "x"',
    ],
    [
      { type: 'string', format: 'date' },
      '2026-02-30',
      'body/x must be a date such as 2026-01-31; received "2026-02-30"',
    ],
    [{ type: 'string', format: 'date-time' }, 'x', 'body/x must be a time such as 2026-01-31T12:00:00Z; received "x"'],
    [integer, 6, 'body/x must be an integer from -5 to 5; received 6'],
    [integer, '1', 'body/x must be an integer from -5 to 5; received "1"'],
    [{ type: 'integer', minimum: 1 }, 0, 'body/x must be an integer of at least 1; received 0'],
    [{ type: 'number', maximum: 9.5 }, 10, 'body/x must be a number of at most 9.5; received 10'],
    [{ type: 'boolean' }, 'yes', 'body/x must be true or false; received "yes"'],
    [{ type: 'null' }, 1, 'body/x must be null; received 1'],
    [{ type: ['string', 'null'] }, 1, 'body/x must be a string or null; received 1'],
    [{ enum: ['a', 'b'] }, 'c', 'body/x must be one of a, b; received "c"'],
    [
      { anyOf: [text, integer] },
      9,
      'body/x must be a string of 1 to 256 characters or an integer from -5 to 5; received 9',
    ],
    [
      { anyOf: [text, integer] },
      null,
      'body/x must be a string of 1 to 256 characters or an integer from -5 to 5; received null',
    ],
    [
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      null,
      'body/x must be a string or an integer; received null',
    ],
    [
      { type: 'array', minItems: 1, maxItems: 2 },
      [1, 2, 3],
      'body/x must be an array of 1 to 2 items; received [1, 2, 3]',
    ],
    [{ type: 'array', items: text }, [''], 'body/x/0 must be a string of 1 to 256 characters; received ""'],
    [
      { anyOf: [text, { type: 'array', items: text }] },
      ['a', ''],
      'body/x/1 must be a string of 1 to 256 characters; received ""',
    ],
    [{ type: 'object' }, [], 'body/x must be an object; received an empty array'],
  ])('%j, %j', (schema, value, detail) => expect(x(schema, value)).toBe(detail))

  test('properties', () => {
    const schema = {
      type: 'object',
      required: ['name', 'id'],
      additionalProperties: false,
      properties: { name: text, id: text, tag: text },
    }
    expect(fail(schema, { id: 'a', tag: 'b' })).toBe(
      'body must have the property "name"; required: name, id; received an object with id, tag',
    )
    expect(fail(schema, {})).toBe('body must have the property "name"; required: name, id; received an empty object')
    expect(fail(schema, { id: 'a', name: 'b', nmae: 'hunter2' })).toBe(
      'body has the unknown property "nmae"; known: name, id, tag',
    )
    expect(fail(schema, { id: 'a', name: 'b', limt: '1' }, 'querystring')).toBe(
      'querystring has the unknown parameter "limt"; known: name, id, tag',
    )
    expect(fail(schema, { id: 'a' }, 'querystring')).toBe(
      'querystring must have the parameter "name"; required: name, id; received id',
    )
    expect(fail({ type: 'object', additionalProperties: false, properties: {} }, { a: '1' }, 'querystring')).toBe(
      'querystring has the unknown parameter "a"; no parameters are allowed',
    )
    expect(fail(schema, { ['a\n'.repeat(200)]: 1, name: 'a', id: 'a' })).not.toMatch(/\n|.{250}/)
  })

  test('text of a query is converted', () => {
    const query = { type: 'integer', minimum: 1, maximum: 200 }
    expect(x(query, '0', 'querystring')).toBe('querystring/x must be an integer from 1 to 200; received 0')
    expect(x(query, 'a', 'querystring')).toBe('querystring/x must be an integer from 1 to 200; received "a"')
    expect(x(query, ['1', '2'], 'querystring')).toBe(
      'querystring/x must be an integer from 1 to 200; received ["1", "2"]',
    )
  })

  test('alternatives that a field distinguishes', () => {
    const x0 = (value: object) => fail({ type: 'array', items: condition }, [value])
    expect(x0({ char: 'a', op: 'like', value: 'b' })).toBe(
      'body/0/op must be one of equals, not, in, notIn, between; received "like"',
    )
    expect(x0({ char: 'a', op: 1, value: 'b' })).toBe(
      'body/0/op must be one of equals, not, in, notIn, between; received 1',
    )
    expect(x0({ char: 'a', op: 'in', value: 'b' })).toBe(
      'body/0/value must be an array of at most 3 items; received "b"',
    )
    expect(x0({ char: 'a', op: 'between', value: [1] })).toBe('body/0/value must be an array of 2 items; received [1]')
    expect(x0({ char: 'a', op: 'notIn', value: [1, null] })).toBe(
      'body/0/value/1 must be a string of 1 to 256 characters or an integer from -5 to 5; received null',
    )
    expect(x0({ char: 'a', value: null })).toBe(
      'body/0/value must be a string of 1 to 256 characters or an integer from -5 to 5; received null',
    )
    expect(x0({ char: '', op: 'between', value: [1, 2] })).toMatch(/^body\/0\/char must be a string of 1 to 256/)
    expect(x0({ value: 1 })).toMatch(/^body\/0 must have the property "char"; required: char, value; /)
    expect(x0({ char: 'a', value: 1, oops: 1 })).toBe('body/0 has the unknown property "oops"; known: char, op, value')
    expect(fail({ type: 'array', items: condition }, [7])).toBe('body/0 must be an object; received 7')
  })
})

describe('a validation error never contains', () => {
  test('a secret', () => {
    for (const name of ['token', 'access_token', 'apiKey', 'password', 'key', 'authorization']) {
      const schema = { type: 'object', properties: { [name]: { type: 'string', maxLength: 3 } } }
      const detail = fail(schema, { [name]: 'hunter2' })
      expect(detail).toBe(`body/${name} must be a string of at most 3 characters; received a value that is not shown`)
      expect(fail({ ...schema, additionalProperties: false }, { other: 'hunter2' })).not.toContain('hunter2')
    }
    expect(x({ type: 'string', maxLength: 3, writeOnly: true }, 'hunter2')).not.toContain('hunter2')
    expect(x({ type: 'array', maxItems: 0 }, [{ token: 'hunter2' }])).not.toContain('hunter2')
    expect(fail({ type: 'array' }, { token: 'hunter2' })).not.toContain('hunter2')
    const nested = {
      type: 'object',
      properties: { tokens: { type: 'array', items: { type: 'string', maxLength: 3 } } },
    }
    expect(fail(nested, { tokens: ['hunter2'] })).not.toContain('hunter2')
  })

  test('a long or unprintable value', () => {
    expect(x({ type: 'string', maxLength: 3 }, '\u001b'.repeat(5_000)).length).toBeLessThan(800)
    const map = { type: 'object', additionalProperties: { type: 'integer' } }
    expect(fail(map, { ['a\n'.repeat(500)]: '' })).not.toMatch(/\n|.{250}/)
  })
})
