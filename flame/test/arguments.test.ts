import { describe, expect, it } from 'vitest'
import { choose, parseFlameArguments } from '../src/arguments.ts'

const variants = new Map([
  ['stats', ['v1', 'v2']],
  ['kv', ['v1']],
])

describe('pnpm flame', () => {
  it('reads its arguments', () => {
    expect(parseFlameArguments(['stats/v1', '--duration', '2'])).toMatchObject({ subjects: ['stats/v1'], duration: 2 })
    expect(parseFlameArguments([])).toMatchObject({ subjects: [], duration: 5 })
    expect(() => parseFlameArguments(['--duration', 'long'])).toThrow('--duration')
  })

  it('chooses variants, all of them where none is named', () => {
    expect(choose([], variants)).toHaveLength(3)
    expect(choose(['kv', 'stats/v2'], variants)).toEqual([
      { service: 'stats', variant: 'v2' },
      { service: 'kv', variant: 'v1' },
    ])
    expect(() => choose(['stats/v9'], variants)).toThrow('stats/v1, stats/v2, kv/v1')
  })
})
