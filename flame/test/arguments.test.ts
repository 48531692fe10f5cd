import { describe, expect, it } from 'vitest'
import { choose, getFolder, parseFlameArguments } from '../src/arguments.ts'

const all = [
  { service: 'stats', variant: 'v1', work: 'read' },
  { service: 'stats', variant: 'v2', work: 'read' },
  { service: 'kv', variant: 'v1', work: 'put-full' },
  { service: 'kv', variant: 'v1', work: 'get-full' },
]

describe('pnpm flame', () => {
  it('parses its arguments', () => {
    expect(parseFlameArguments(['stats/v1', '--duration', '2'])).toMatchObject({ subjects: ['stats/v1'], duration: 2 })
    expect(parseFlameArguments([])).toMatchObject({ subjects: [], duration: 5 })
    expect(() => parseFlameArguments(['--duration', 'long'])).toThrow('--duration')
  })

  it('selects services, variants and workloads, and all of them by default', () => {
    expect(choose([], all)).toEqual(all)
    expect(choose(['kv', 'stats/v2'], all).map(getFolder)).toEqual([
      'kv/v1/put-full',
      'kv/v1/get-full',
      'stats/v2/read',
    ])
    expect(choose(['kv/v1/get-small'], all).map(getFolder)).toEqual(['kv/v1/get-small'])
    expect(() => choose(['kv/v1/nothing'], all)).toThrow('kv/v1/put-full')
    expect(choose(['kv/v1'], all)).toEqual(all.slice(2))
    expect(choose(['kv/v1/get-full'], all)).toEqual(all.slice(3))
    expect(() => choose(['stats/v9'], all)).toThrow('stats/v1/read, stats/v2/read, kv/v1/put-full')
    expect(() => choose(['stats/v'], all)).toThrow('stats/v1')
  })
})
