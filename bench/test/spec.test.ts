import { describe, expect, it } from 'vitest'
import { parseBenchArguments } from '../src/arguments.ts'
import { formatSpec, parseSpec } from '../src/spec.ts'

describe('specs', () => {
  it.each(['stats', 'stats/v4', 'stats/v5,client=batching', 'stats/v5,client=batching,state=map', 'stats,cache=lru'])(
    'are read and named alike: %s',
    (text) => {
      expect(formatSpec(parseSpec(text))).toBe(text)
    },
  )

  it('may name a workload', () => {
    const spec = parseSpec('kv/v4,cacheMegabytes=8/get-full')
    expect(spec).toEqual({ service: 'kv', variant: 'v4', settings: { cacheMegabytes: '8' }, work: 'get-full' })
    expect(formatSpec(spec)).toBe('kv/v4,cacheMegabytes=8')
  })

  it.each(['', '/v4', 'stats/', 'stats/v4,client', 'stats/v4 client=x', 'Stats'])('are refused: "%s"', (text) => {
    expect(() => parseSpec(text)).toThrow('is not service')
  })
})

describe('arguments', () => {
  it('take a service, a comparison and settings', () => {
    expect(parseBenchArguments(['stats', '--quick'])).toMatchObject({
      specs: [{ service: 'stats', variant: '' }],
      rounds: 1,
      duration: 1,
      compare: false,
    })
    expect(parseBenchArguments(['compare', 'stats/v1', 'stats/v2'])).toMatchObject({
      specs: [],
      compared: ['stats/v1', 'stats/v2'],
      compare: true,
      pairs: 10,
    })
    expect(parseBenchArguments(['stats', '--table', 'server-adapters'])).toMatchObject({ table: 'server-adapters' })
    expect(parseBenchArguments(['--duration', '5', '--connections', '64'])).toMatchObject({
      duration: 5,
      connections: 64,
      specs: [],
    })
  })

  it.each([
    ['compare', 'stats/v1', 'stats/v2', 'stats/v3'],
    ['--duration', '0'],
    ['--duration', 'x'],
    ['--pairs', '3'],
    ['--unknown'],
  ])('refuse %s %s', (...argv) => {
    expect(() => parseBenchArguments(argv)).toThrow()
  })
})
