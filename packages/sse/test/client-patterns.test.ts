import { expect, it } from 'vitest'
import { TopicPattern } from '../src/core/patterns/topic-pattern.ts'
import { createSelectors } from '../src/core/selectors.ts'
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
