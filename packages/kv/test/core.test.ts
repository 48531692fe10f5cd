import { parseTags } from '@influencer-stats/runtime/conditions'
import fc from 'fast-check'
import { isUtf8 } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { parseBatch } from '../src/lines/parse-batch.ts'
import { readLines } from '@influencer-stats/runtime/async/read-lines'
import { toChunks, type StoredEntry } from '../src/lines/entry-chunks.ts'
import { toKeyLines, toEntryLines } from '../src/lines/entry-lines.ts'
import { toOpLine, parseLine, toPutLine, type Op } from '../src/core/change-lines.ts'
import { parseQuery } from '../src/core/parse-query.ts'
import { countTurns } from './support/turns.ts'

const LIMITS = { maxValue: 1e6, maxLines: 1e6 }

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const bytes = fc.uint8Array().map((one) => Buffer.from(one))
const key = text.map((one) => Buffer.from(one))
const value = fc.oneof(
  bytes,
  fc.string({ unit: 'grapheme' }).map((one) => Buffer.from(one)),
)
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), key, value }),
  fc.record({ type: fc.constant('del' as const), key }),
  fc.record({ type: fc.constant('expire' as const), key }),
  fc.record({
    type: fc.constant('expire' as const),
    key,
    ttl: fc.integer({ min: 1, max: 999_999_999 }).map((s) => s * 1_000),
  }),
  fc.record({ type: fc.constant('expire' as const), key, expiresAt: fc.integer({ min: 1, max: 8_640_000_000_000 }) }),
)

describe('query strings', () => {
  it('are decoded to the encoded pairs, in both usual encodings', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, minLength: 1 }), (pairs) => {
        const encodePair = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
        for (const encoded of [encodePair, new URLSearchParams(pairs).toString()]) {
          const { fault, names, values } = parseQuery(encoded)
          expect(fault).toBeUndefined()
          expect(names.map((name, i) => [name, values[i]!.toString()])).toEqual(pairs)
        }
      }),
    )
  })

  it('never throw, and return an error or a value for every name', () => {
    const piece = fc.constantFrom('a', '=', '&', '%', '%41', '%ff', '%C3', '%A9', '+', '\u00e9', 'id')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((splitChunks) => splitChunks.join('')),
        ),
        (encoded) => {
          const { fault, names, values } = parseQuery(encoded)
          expect(values).toHaveLength(names.length)
          expect(new Set(names).size).toBe(names.length)
          if (fault !== undefined) expect(names).toEqual([])
          for (const one of values) expect(Buffer.from(one.toString()).equals(one) && one.length > 0).toBe(true)
        },
      ),
    )
  })
})

const LINE_ENDS = ['\x85', '\u2028', '\u2029']
const escaping = (json: string) =>
  json.replaceAll('\x85', '\\u0085').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

/** Splits a text at the line ends of Python's `str.splitlines`. */
function splitLines(text: string): string[] {
  const lines = ['']
  for (const character of text)
    if ('\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029'.includes(character)) lines.push('')
    else lines[lines.length - 1] += character
  return lines
}

describe('lines', () => {
  it('are not split by readers that end a line at other characters than a newline', () => {
    const part = fc.constantFrom('a', 'é', '\v', '\f', '\r', '\x1c', '\x1e', ...LINE_ENDS)
    const word = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))
    const entries = fc.array(
      fc.tuple(
        word,
        fc.oneof(
          word,
          word.map((text) => Buffer.from(text)),
        ),
      ),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(entries, (all: StoredEntry[]) => {
        const lines = splitLines(toEntryLines(all)).slice(0, -1)
        const read = lines.map((line) => JSON.parse(line))
        expect(read.map(({ id }) => id)).toEqual(all.map(([id]) => id))
        expect(read.map(({ value, valueBase64 }) => value ?? Buffer.from(valueBase64, 'base64').toString())).toEqual(
          all.map(([, given]) => given.toString()),
        )
        expect(splitLines(toKeyLines(all)).slice(0, -1)).toHaveLength(all.length)
        for (const [id, given] of all) {
          const line = toOpLine({ type: 'put', key: Buffer.from(id), value: Buffer.from(given) })
          expect(splitLines(line)).toHaveLength(2)
        }
      }),
    )
  })

  it('are parsed to the changes from which they were made', () => {
    fc.assert(
      fc.property(op, (one) => {
        const line = toOpLine(one)
        expect(line.indexOf('\n')).toBe(line.length - 1)
        expect(parseLine(line)).toEqual(one)
      }),
    )
  })

  it('form a batch of any changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op), fc.constantFrom('', '\n', ' \r\n'), async (ops, between) => {
        expect(await parseBatch(Buffer.from(ops.map(toOpLine).join(between)), LIMITS)).toEqual(ops)
      }),
    )
  })

  it('of a large batch are parsed in slices, up to the maximum number', async () => {
    const body = Buffer.from('{"op":"delete","id":"a"}\n'.repeat(60_000))
    const { turns, result } = await countTurns(() => parseBatch(body, LIMITS))
    expect(result).toHaveLength(60_000)
    expect(turns).toBeGreaterThan(10)
    for (const lines of [body, Buffer.alloc(60_000, '\n')]) {
      expect(await parseBatch(lines, { ...LIMITS, maxLines: 60_000 })).toBeInstanceOf(Array)
      const refused = await parseBatch(lines, { ...LIMITS, maxLines: 59_999 })
      expect(refused).toMatchObject({ line: 60_000, tooLarge: 'batch' })
    }
  })

  it('are found in bytes that arrive in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(bytes), fc.array(fc.nat(40)), async (parts, cuts) => {
        const whole = Buffer.from(parts.join('\n'))
        async function* splitChunks() {
          let from = 0
          for (const offset of cuts) yield whole.subarray(from, (from += offset))
          yield whole.subarray(from)
        }
        const lines: string[] = []
        for await (const line of readLines(splitChunks())) lines.push(line.toString('latin1'))
        const expected = whole.toString('latin1').split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(lines).toEqual(expected)
      }),
    )
  })

  it('are at most 1.5 times as long as their values, and are text where possible', () => {
    const one = fc.constantFrom('\0', '\n', '"', '\\', 'a', 'é', '🎈', '\u007f', ...LINE_ENDS)
    const escaped = fc.oneof(
      value,
      fc.array(one, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
      fc.tuple(one, fc.nat(200), one, fc.nat(200)).map(([a, m, b, n]) => Buffer.from(a.repeat(m) + b.repeat(n))),
    )
    fc.assert(
      fc.property(escaped, (bytes) => {
        const base64 = `{"op":"put","id":"k","valueBase64":"${bytes.toString('base64')}"}\n`
        for (const given of isUtf8(bytes) ? [bytes, bytes.toString()] : [bytes]) {
          const line = toPutLine('k', given)
          const text = escaping(JSON.stringify(bytes.toString()))
          const asText = `{"op":"put","id":"k","value":${text}}\n`
          const isShort = isUtf8(bytes) && Buffer.byteLength(text) - 2 <= bytes.length * 1.5
          expect(line).toBe(isShort ? asText : base64)
          expect(parseLine(line)).toEqual({ type: 'put', key: Buffer.from('k'), value: bytes })
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('accept base64 of any length, and refuse everything else', () => {
    const large = Buffer.alloc(16_777_216, 0xff)
    const put = parseLine(toPutLine('k', large)) as { value: Buffer }
    // `toEqual` would compare the bytes one by one.
    expect([{ ...put, value: undefined }, put.value.equals(large)]).toEqual([
      { type: 'put', key: Buffer.from('k') },
      true,
    ])
    const groups = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
    const characters = fc.array(fc.constantFrom('A', 'z', '9', '+', '/', '=', '%', '-'), { maxLength: 9 })
    fc.assert(
      fc.property(characters, (given) => {
        const text = given.join('')
        const op = parseLine(JSON.stringify({ op: 'put', id: 'k', valueBase64: text }))
        expect(typeof op === 'object').toBe(groups.test(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('contain text if the value is text', () => {
    expect(toPutLine('a', Buffer.from('é'))).toBe('{"op":"put","id":"a","value":"é"}\n')
    expect(toPutLine('a', Buffer.from([0xff]))).toBe('{"op":"put","id":"a","valueBase64":"/w=="}\n')
  })
})

describe('chunks', () => {
  it('have the size that they state', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.oneof(text, bytes))), (entries: StoredEntry[]) => {
        let rest = Buffer.from(toChunks(entries))
        for (const [id, unread] of entries) {
          const end = rest.indexOf('\r\n')
          const size = Number.parseInt(rest.toString('latin1', 0, end), 16)
          expect(rest.subarray(end + 2, end + 2 + size)).toEqual(
            Buffer.concat([Buffer.from(`${id}\n`), Buffer.from(unread)]),
          )
          expect(rest.toString('latin1', end + 2 + size, end + 4 + size)).toBe('\r\n')
          rest = rest.subarray(end + 4 + size)
        }
        expect(rest).toHaveLength(0)
      }),
    )
  })
})

describe('entity tags', () => {
  it.each([
    ['*', '*'],
    ['"a"', ['"a"']],
    ['"a","b"', ['"a"', '"b"']],
    [' W/"a" ,, "" ,', ['W/"a"', '""']],
    ['', undefined],
    ['a', undefined],
    ['"a" "b"', undefined],
    ['"a', undefined],
    ['w/"a"', undefined],
  ])('are parsed from %s', (given, tags) => {
    expect(parseTags(given)).toEqual(tags)
  })
})
