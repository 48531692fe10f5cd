import { expect, it, onTestFinished, vi } from 'vitest'
import { ParsedTopic } from '../src/core/patterns/parsed-topic.ts'
import { TopicPattern } from '../src/core/patterns/topic-pattern.ts'
import { createSelectors, type Selectors } from '../src/core/selectors.ts'
import { TopicIndex } from '../src/core/topic-index.ts'

const BASE = 'https://hub.example/.well-known/mercure'

/** Selects `count` patterns with the literal start `https://x.example/`. */
const select = (name: string, count: number) =>
  createSelectors(
    [],
    [],
    Array.from({ length: count }, (_, i) => TopicPattern.parse(`https://x.example/:a/${name}${i}`, BASE)!),
  )

it('allows a client 8 patterns with a literal start that 1,024 patterns have, and 128 with others', () => {
  const index = new TopicIndex<object>()
  for (let i = 0; i < 8; i++) {
    const one = select(`${i}-`, 128)
    expect(index.canAdd(one, `client ${i}`)).toBe(true)
    index.add(one, one)
    index.countClient(one, `client ${i}`)
  }
  expect(index.canAdd(select('x', 8), 'other')).toBe(true)
  expect(index.canAdd(select('x', 9), 'other')).toBe(false)
  expect(index.canAdd(select('0-', 128), 'client 0')).toBe(true)
  expect(index.canAdd(select('0-', 129), 'client 0')).toBe(false)
  const away = createSelectors([], [], [TopicPattern.parse('https://y.example/:a', BASE)!])
  expect(index.canAdd(away, 'client 0')).toBe(true)
})

it('limits the patterns of all clients with a literal start, and the steps that a topic takes to test them', () => {
  const index = new TopicIndex<object>()
  const open = (selectors: Selectors, client: string) => {
    if (!index.canAdd(selectors, client)) return false
    index.add(selectors, selectors)
    index.countClient(selectors, client)
    return true
  }
  // Hostile patterns: each character of a topic leads to many states.
  const starts = `https://x.example/${'*a'.repeat(60)}`
  let added = 0
  for (let i = 0; i < 140; i++) {
    const size = added < 1_024 ? 128 : 8
    const patterns = Array.from({ length: size }, (_, k) => TopicPattern.parse(`${starts}*${i}-${k}`, BASE)!)
    if (open(createSelectors([], [], patterns), `client ${i}`)) added += size
  }
  expect(added).toBe(2_048)
  expect(open(select('new', 1), 'other')).toBe(false)
  // Any client can subscribe to a pattern that the index already has.
  expect(open(createSelectors([], [], [TopicPattern.parse(`${starts}*0-0`, BASE)!]), 'other')).toBe(true)
  const away = TopicPattern.parse('https://x.example/books/:id/chapters/:name', BASE)!
  expect(open(createSelectors([], [], [away]), 'other')).toBe(true)

  const tests = vi.spyOn(TopicPattern.prototype, 'matches')
  onTestFinished(() => tests.mockRestore())
  const found: object[] = []
  index.find(`https://x.example/${'a'.repeat(900)}`, (one) => found.push(one))
  const steps = tests.mock.calls.reduce((all, [, maxSteps]) => all + maxSteps!, 0)
  expect([tests.mock.calls.length, steps <= 128 * 16_384, found]).toEqual([2_048, true, []])
  const topic = 'https://x.example/books/018f6c1e-3d4b-7e2a-9c55-0242ac120002/chapters/the-first-of-many'
  index.find(topic, (one) => found.push(one))
  expect(found).toHaveLength(1)
})

it('leaves patterns enough steps for ordinary topics beside 2,047 others', () => {
  const pattern = TopicPattern.parse('https://x.example/:kind/:id/*', BASE)!
  const topic = `https://x.example/books/018f6c1e-3d4b-7e2a-9c55-0242ac120002/${'chapter/'.repeat(10)}`
  expect(pattern.matches(new ParsedTopic(topic), 1_024)).toBe(true)
})

it('counts a pattern of several streams of a client until the last ends', () => {
  const index = new TopicIndex<object>()
  const all = select('p', 128)
  for (let i = 0; i < 2; i++) index.countClient(all, 'a')
  index.discountClient(all, 'a')
  expect(index.canAdd(select('q', 1), 'a')).toBe(false)
  index.discountClient(all, 'a')
  index.discountClient(all, 'a')
  expect(index.canAdd(select('q', 128), 'a')).toBe(true)
})
