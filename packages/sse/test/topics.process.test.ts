import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSelectors, isSelected, type Selectors } from '../src/core/selectors.ts'
import { TopicIndex } from '../src/core/topic-index.ts'
import { TopicPattern } from '../src/core/patterns/topic-pattern.ts'
import { isHubTopic, parseTopicUrl } from '../src/core/patterns/topic-url.ts'
import { startSse } from './support/test-sse.ts'

const BASE = 'https://hub.example/.well-known/mercure'
const parse = (text: string) => TopicPattern.parse(text, BASE)

/** Returns whether a pattern matches a topic: by `TopicPattern` and by the platform's `URLPattern`. */
function matchBoth(text: string, topic: string): [unknown, unknown] {
  const url = parseTopicUrl(topic)
  const pattern = parse(text)
  return [pattern && url !== undefined && pattern.test(url), matchWithUrlPattern(text, topic)]
}

function matchWithUrlPattern(text: string, topic: string): unknown {
  try {
    return new URLPattern(text, BASE).test(topic)
  } catch {
    return undefined
  }
}

const step = fc.constantFrom(
  'a',
  'bc',
  ':id',
  ':id?',
  ':id*',
  ':id+',
  '*',
  '{x}?',
  '{a:b}*',
  '{-:y-}+',
  'a-:z',
  '%41',
  'é',
  '{x*}?',
)
const pattern = fc.oneof(
  fc.array(step, { maxLength: 5 }).map((steps) => `https://x.example/${steps.join('/')}`),
  fc.array(step, { maxLength: 4 }).map((steps) => `https://x.example/${steps.join('')}`),
  fc.array(step, { maxLength: 3 }).map((steps) => `/${steps.join('/')}?q=:v#*`),
  fc.constantFrom(
    '*://x.example/*',
    'http{s}?://*.example/a',
    'https://:sub.example:*/:id',
    'urn:isbn:*',
    'https://x.example:8080/*',
  ),
)
const topic = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'https://x.example/',
        'https://X.example:443/',
        'http://y.example/',
        'https://hub.example/',
        'urn:isbn:',
      ),
      fc.array(fc.constantFrom('a', 'bc', 'x', '1', '', 'a-b', '-y-', 'A', 'é', 'aaa'), { maxLength: 6 }),
      fc.constantFrom('', '?q=1', '?q=#h', '#h'),
    )
    .map(([origin, steps, end]) => origin + steps.join('/') + end),
  fc.constantFrom('none', 'a/b', 'https://', 'https://x.example:8080/a'),
)

describe('a topic pattern', () => {
  it("matches as the platform's URLPattern", () => {
    fc.assert(
      fc.property(pattern, topic, (text, url) => {
        const [actual, expected] = matchBoth(text, url)
        expect(actual).toBe(expected)
      }),
      { numRuns: 3_000 },
    )
  })

  it.each(['https://x/(', 'https://x/{', 'https://x/:', 'https://x/:a:a', 'https://x/:id(\\d+)', 'https://x/((a+)+)$'])(
    'is refused if it is malformed or has a regular expression: %s',
    (text) => expect(parse(text)).toBeUndefined(),
  )

  it('is refused if it is too long', () => {
    expect(parse(`https://x/${'a'.repeat(1_100)}`)).toBeUndefined()
    expect(parse(`https://x/${'*a'.repeat(300)}`)).toBeDefined()
  })

  it.each([
    ['wildcards', `https://x/${'*a'.repeat(300)}`, 'a'.repeat(1_000)],
    ['repeated groups', `https://x/${'{a*}*'.repeat(150)}`, 'a'.repeat(1_000)],
    ['names', `https://x/${Array.from({ length: 100 }, (_, i) => `{:n${i}}?`).join('')}`, 'a'.repeat(1_000)],
  ])('has a bounded cost: %s', (_what, text, path) => {
    const hostile = parse(text)!
    const url = parseTopicUrl(`https://x/${path}!`)!
    hostile.test(url)
    const before = process.cpuUsage()
    for (let i = 0; i < 20; i++) expect(hostile.test(url)).toBe(false)
    const { user, system } = process.cpuUsage(before)
    // In microseconds; measured: 0.3 ms per match on a busy machine.
    expect((user + system) / 20).toBeLessThan(10_000)
  })
})

describe('the index of topics', () => {
  const prefixes = fc.subarray(['', 'https', 'https://x.example/', 'a', 'a/', 'https://x.example/a'], { maxLength: 3 })
  const topics = fc.subarray(['a', 'a/b', 'none', 'https://x.example/a', 'https://x.example/a/bc'], { maxLength: 3 })
  const selectors = fc.tuple(topics, prefixes, fc.array(pattern, { maxLength: 3 })).map(([exact, begins, texts]) =>
    createSelectors(
      exact,
      begins,
      texts.flatMap((text) => parse(text) ?? []),
    ),
  )

  it('finds the same subscribers as a scan of all, while they are added and removed', () => {
    const change = fc.tuple(fc.nat(7), selectors)
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), fc.array(topic, { maxLength: 6 }), (changes, topicsToFind) => {
        const index = new TopicIndex<{ readonly selectors: Selectors }>()
        const held = new Map<number, { readonly selectors: Selectors }>()
        for (const [subscriber, what] of changes) {
          const old = held.get(subscriber)
          if (old) index.delete(old.selectors, old)
          held.delete(subscriber)
          if (old) continue
          const one = { selectors: what }
          index.add(what, one)
          held.set(subscriber, one)
        }
        for (const one of [...topicsToFind, 'a', 'a/b']) {
          const found = new Set()
          index.find(one, (subscriber) => found.add(subscriber))
          expect(found).toEqual(
            new Set([...held.values()].filter((subscriber) => isSelected(subscriber.selectors, one))),
          )
        }
      }),
      { numRuns: 500 },
    )
  })

  it('limits patterns with the same literal start, and accepts more with others', () => {
    const index = new TopicIndex<object>()
    const add = (text: string) => {
      const one = createSelectors([], [], [parse(text)!])
      if (!index.canAdd(one, 'a')) return false
      index.add(one, {})
      index.countClient(one, 'a')
      return true
    }
    const alike = Array.from({ length: 200 }, (_, i) => add(`https://x.example/:id/${i}`))
    expect(alike.filter(Boolean)).toHaveLength(128)
    expect(add('https://x.example/:id/3')).toBe(true)
    expect(add('https://x.example/y/:id')).toBe(true)
  })

  it('visits only matching subscribers: 10,000 with 3 selectors each, 10,000 topics', () => {
    const index = new TopicIndex<object>()
    for (let i = 0; i < 10_000; i++) {
      const patterns = i < 1_000 ? [parse(`https://x.example/users/${i}/*`)!] : []
      index.add(createSelectors([`https://x.example/t/${i}`, `t/${i}`], [`p/${i}/`], patterns), { i })
    }
    let found = 0
    const began = process.cpuUsage()
    for (let i = 0; i < 10_000; i++) {
      for (const one of [`https://x.example/t/${i}`, `p/${i}/x`, `https://x.example/users/${i}/x`]) {
        index.find(one, () => found++)
      }
    }
    const { user, system } = process.cpuUsage(began)
    expect(found).toBe(21_000)
    // A scan would take minutes. The index takes half a second on a busy machine.
    expect(user + system).toBeLessThan(5_000_000)
  })
})

describe("the hub's own topics", () => {
  it.each([
    `${BASE}`,
    `${BASE}/subscriptions/x`,
    'http://other.example/.well-known/mercure/subscriptions',
    '/.well-known/mercure',
    '/.well-known/%6dercure/x',
    '/.well-known/./x/../mercure',
    '/.well-known//mercure',
    '\\.well-known\\mercure',
    '/.well-known/mer\tcure',
    '/%2ewell-known%2fmercure',
    'mercure/subscriptions',
    '?x',
    '#x',
    ' ',
    'https://hub.example/.well-known/mercure?x#y',
  ])('are recognized in any spelling: %j', (one) => expect(isHubTopic(one, BASE)).toBe(true))

  it.each([
    'default',
    'collections/a',
    'https://x/mercure',
    '/mercure',
    'https://x/.well-known/mercury',
    '/.well-known/mercurex',
  ])('do not include others: %s', (one) => expect(isHubTopic(one, BASE)).toBe(false))
})

describe('a stream of many topics', () => {
  it('names the topic of each value on request, also in its replay', async () => {
    const sse = await startSse()
    await sse.put('0', 'c/a')
    await sse.put('x', 'd')
    const plain = await sse.openBoth('?match=c/*&last=1')
    const named = await sse.openBoth('?match=c/*&topic=e&named=1&last=1')
    await sse.put('a\n"b"', 'c/b')
    await sse.put('no', 'd')
    await sse.put('e', 'e')
    for (const stream of named) {
      await stream.until(3)
      expect(stream.values.map((json) => JSON.parse(json))).toEqual([
        { topic: 'c/a', value: '0' },
        { topic: 'c/b', value: 'a\n"b"' },
        { topic: 'e', value: 'e' },
      ])
    }
    for (const stream of plain) {
      await stream.until(2)
      expect(stream.values).toEqual(['0', 'a\n"b"'])
    }
  })

  it('receives hundreds of topics, a prefix, or all topics', async () => {
    const sse = await startSse()
    const topics = Array.from({ length: 400 }, (_, i) => `t${i}`)
    const [similar] = await sse.openBoth(`?named=1&${topics.map((one) => `topic=${one}`).join('&')}`)
    const [all] = await sse.openBoth('?named=1&match=*')
    for (const one of ['t0', 't399', 't400']) await sse.put(one, one)
    await similar!.until(2)
    await all!.until(3)
    expect(similar!.values.map((json) => JSON.parse(json).topic)).toEqual(['t0', 't399'])
    expect(all!.values.map((json) => JSON.parse(json).topic)).toEqual(['t0', 't399', 't400'])
    expect((await sse.request('GET', '/connections')).body.topics).toContainEqual({ topic: '*', streams: 2 })
  })

  it('resumes without a gap and without duplicates, also for topics that are new to it', async () => {
    const sse = await startSse()
    const ids: string[] = []
    for (let i = 0; i < 30; i++) ids.push(await sse.put(`${i}`, `c/${i % 7}`))
    for (const stream of await sse.openBoth('?match=c/*', { 'last-event-id': ids[9]! })) {
      await stream.until(20)
      expect(stream.values).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 10}`))
    }
  })
})
