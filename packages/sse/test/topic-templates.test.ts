import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ParsedTopic } from '../src/core/patterns/parsed-topic.ts'
import { createSelectors, isSelected, type Selectors } from '../src/core/selectors.ts'
import { TopicIndex } from '../src/core/topic-index.ts'
import { TopicTemplate } from '../src/core/patterns/topic-template.ts'

const matches = (template: string, topic: string) => TopicTemplate.parse(template)?.matches(new ParsedTopic(topic))

type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>

/** Operators with the first text, the separator, named, the mark of an empty value, and reserved characters. */
const OPERATORS: Readonly<Record<string, readonly [string, string, boolean, string, boolean]>> = {
  '': ['', ',', false, '', false],
  '+': ['', ',', false, '', true],
  '#': ['#', ',', false, '', true],
  '.': ['.', '.', false, '', false],
  '/': ['/', '/', false, '', false],
  ';': [';', ';', true, '', false],
  '?': ['?', '&', true, '=', false],
  '&': ['&', '&', true, '=', false],
}

/** Expands an expression as appendix A of RFC 6570 describes it. */
function expand(operator: string, variables: readonly { name: string; modifier: string; value?: TemplateValue }[]) {
  const [first, separator, isNamed, emptyMark, isReserved] = OPERATORS[operator]!
  const encode = (text: string) =>
    Array.from(text, (char) => {
      if (/[\w.~-]/.test(char) || (isReserved && /[:/?#[\]@!$&'()*+,;=]/.test(char))) return char
      return Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
    }).join('')
  const texts = variables.flatMap(({ name, modifier, value }) => {
    if (value === undefined) return []
    if (typeof value === 'string') {
      const cut = modifier.startsWith(':')
        ? Array.from(value)
            .slice(0, Number(modifier.slice(1)))
            .join('')
        : value
      if (!isNamed) return [encode(cut)]
      return [cut === '' ? name + emptyMark : `${name}=${encode(cut)}`]
    }
    const pairs = Array.isArray(value) ? value.map((item): [string, string] => [name, item]) : Object.entries(value)
    if (pairs.length === 0) return []
    if (modifier === '*') {
      const isList = Array.isArray(value)
      return pairs.map(([key, item]) => {
        if (isList && !isNamed) return encode(item)
        return item === '' && isNamed ? encode(key) + emptyMark : `${encode(key)}=${encode(item)}`
      })
    }
    const joined = (Array.isArray(value) ? value.map(encode) : pairs.flat().map(encode)).join(',')
    return [isNamed ? `${name}=${joined}` : joined]
  })
  return texts.length === 0 ? '' : first + texts.join(separator)
}

describe('a URI template', () => {
  it.each([
    [
      'https://x.example/books/{id}',
      ['https://x.example/books/1', 'https://x.example/books/', 'https://x.example/books/%C3%A9'],
      [
        'https://x.example/books/1/2',
        'https://x.example/books/é',
        'https://x.example/book',
        'https://x.example/books/%zz',
      ],
    ],
    ['https://x.example/{+path}', ['https://x.example/a/b?c#d'], ['https://x.example/a b']],
    [
      'https://x.example/users/foo/{?topic}',
      ['https://x.example/users/foo/', 'https://x.example/users/foo/?topic=https%3A%2F%2Fx'],
      ['https://x.example/users/foo/?other=1', 'https://x.example/users/foo/?topic=a&b=1'],
    ],
    ['{x,y}', ['', '1', '1,2'], ['1/2']],
    ['/a{/b,c}', ['/a', '/a/1', '/a/1/2'], ['/a/1/2/3', '/ab']],
    ['{;x,empty}', [';x=1;empty', ';empty', ''], [';y=1', 'x']],
    ['{?q*}', ['', '?q=1&q=2', '?a=1&b=2'], ['q=1']],
    ['{var:3}', ['abc', 'a%20c', ''], ['abcd']],
    ['{.a*}', ['', '.x', '.x.y'], ['x']],
    // Templates match themselves.
    ['/a/{b}', ['/a/{b}'], ['/a/{c}']],
  ])('matches its expansions: %s', (template, expected, others) => {
    for (const topic of expected) expect({ topic, is: matches(template, topic) }).toEqual({ topic, is: true })
    for (const topic of others) expect({ topic, is: matches(template, topic) }).toEqual({ topic, is: false })
  })

  it.each([
    'a',
    'a}',
    '{',
    '{}',
    '{a',
    'a{b}}',
    '{{a}}',
    '{=a}',
    '{a b}',
    '{a:0}',
    '{a:65}',
    '{a:10000}',
    '{a*:2}',
    '{a,}',
    `{a}${'x'.repeat(1_024)}`,
  ])('is none: %s', (text) => expect(TopicTemplate.parse(text)).toBeUndefined())

  it('matches every expansion of RFC 6570', () => {
    const text = fc.string({
      maxLength: 6,
      unit: fc.constantFrom('a', 'Z', '1', '/', ',', '=', '&', '%', ' ', 'é', '☃', '~'),
    })
    const value = fc.option(
      fc.oneof(
        text,
        fc.array(text, { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('k', 'l,', 'é'), text, { maxKeys: 2 }),
      ),
      { nil: undefined },
    )
    const variable = fc
      .record({ name: fc.constantFrom('x', 'long.name', 'a_%20'), modifier: fc.constantFrom('', '', '*', ':2'), value })
      // A prefix applies to texts only.
      .filter(({ modifier, value: one }) => !modifier.startsWith(':') || one === undefined || typeof one === 'string')
    const expression = fc.tuple(
      fc.constantFrom(...Object.keys(OPERATORS)),
      fc.array(variable, { minLength: 1, maxLength: 3 }),
    )
    const literal = fc.constantFrom('', '/', 'https://x/', '?a=')
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, expression), { minLength: 1, maxLength: 3 }), (parts) => {
        const template = parts.map(
          ([before, [operator, variables]]) =>
            `${before}{${operator}${variables.map(({ name, modifier }) => name + modifier).join(',')}}`,
        )
        const topic = parts.map(([before, [operator, variables]]) => before + expand(operator, variables))
        expect([template.join(''), topic.join(''), matches(template.join(''), topic.join(''))]).toEqual([
          template.join(''),
          topic.join(''),
          true,
        ])
      }),
      { numRuns: scaleRuns(1_000) },
    )
  })

  it.each([
    ['many variables', '{a}'.repeat(300)],
    ['many lists', '{a*}'.repeat(250)],
    ['reserved characters', '{+a}'.repeat(250)],
    ['prefixes', '{a:20}'.repeat(40)],
    ['names', '{?a,b*,c}'.repeat(110)],
  ])('has a bounded cost: %s', (_what, text) => {
    const hostile = TopicTemplate.parse(text)
    if (!hostile) return
    const topic = new ParsedTopic(`${'a'.repeat(1_000)} `)
    hostile.matches(topic)
    const before = process.cpuUsage()
    for (let i = 0; i < 20; i++) expect(hostile.matches(topic)).toBe(false)
    const { user, system } = process.cpuUsage(before)
    // In microseconds.
    expect((user + system) / 20).toBeLessThan(10_000)
  })

  it('finds its subscribers by its literal start, as a scan of all does', () => {
    const texts = ['{a}', 'https://x/{a}', 'https://x/{a}/b', 'https://{+all}', 'a/{b}', '/s/{t}/{u}']
    const topics = ['a', 'https://x/1', 'https://x/1/b', 'https://x', 'a/1', '/s/1/2', 'https://x/{a}']
    fc.assert(
      fc.property(
        fc.array(fc.subarray(texts, { minLength: 1 }), { maxLength: 6 }),
        fc.array(fc.nat(5)),
        (groups, removed) => {
          const index = new TopicIndex<{ readonly selectors: Selectors }>()
          const held = new Set(
            groups.map((group) => ({
              selectors: createSelectors(
                [],
                [],
                group.map((one) => TopicTemplate.parse(one)!),
              ),
            })),
          )
          for (const one of held) index.add(one.selectors, one)
          for (const [i, one] of [...held].entries()) {
            if (!removed.includes(i)) continue
            index.delete(one.selectors, one)
            held.delete(one)
          }
          for (const topic of topics) {
            const found = new Set()
            index.find(topic, (subscriber) => found.add(subscriber))
            expect(found).toEqual(new Set([...held].filter(({ selectors }) => isSelected(selectors, topic))))
          }
        },
      ),
    )
  })
})
