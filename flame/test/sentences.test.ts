import { describe, expect, it } from 'vitest'
import type { HotFunction } from '../src/graph/hot-functions.ts'
import { parseFindings, readFindings } from '../src/findings.ts'
import { compareWithSource, formatShares, formatTopSentence } from '../src/sentences.ts'
import type { GraphSummary } from '../src/hot-report.ts'

const write: HotFunction = { function: 'writeString', file: '', line: 0, category: 'native', self: 20.5, total: 20.5 }
const fetchOne: HotFunction = {
  function: 'fetchOne',
  file: 'packages/stats/src/youtube/fetch.ts',
  line: 8,
  category: 'app',
  self: 1,
  total: 40,
}
const graph = (functions: HotFunction[], parts: Record<string, number>): GraphSummary => ({
  kind: 'cpu',
  thread: 'thread-0',
  unit: 'samples',
  total: 1_000,
  idle: 0,
  program: 7,
  parts: Object.entries(parts).map(([name, share]) => ({ name, share })),
  homes: [],
  employers: [{ name: '`debug` (packages/stats/src/logger/console.ts:10)', share: 15 }],
  functions,
})
const source = { says: '`DefaultLogger` with 70.29 %', share: 70.29, part: 'logger' }
const finding = { source, why: 'Because.', next: 'That.' }

describe('the sentence', () => {
  it('names the largest function, its caller, and the largest function of the app', () => {
    expect(formatTopSentence('v1', graph([fetchOne, write], {}), 'of CPU')).toBe(
      'v1: `writeString` (native, for `debug`, `packages/stats/src/logger/console.ts:10`) takes 20.50 % of CPU (self), 20.50 % (total). ' +
        'The function of this repository with the largest total is `fetchOne` (`packages/stats/src/youtube/fetch.ts:8`): 40.00 %.',
    )
    const shared = { ...graph([write], {}), employers: [{ name: 'the client', share: 5 }] }
    expect(formatTopSentence('v1', shared, 'of CPU')).toContain('`writeString` (native) takes')
    expect(formatTopSentence('v1', graph([], {}), 'of CPU')).toBe('v1: no work.')
  })

  it('lists the largest components', () => {
    expect(formatShares(graph([write], { client: 50, logger: 30 }))).toBe(
      "By component: client 50.0 %, logger 30.0 %. Not included: 7.0 % of the thread's work, native code without JavaScript on the stack.",
    )
  })

  it.each([
    [{ logger: 65, client: 20 }, 'The result here is similar'],
    [{ logger: 45, client: 20 }, 'with a different share'],
    [
      { client: 50, logger: 20 },
      'Here the result differs: the logger takes 20.00 %, and the largest component is the client with 50.00 %',
    ],
  ])('states if it agrees with the source: %j', (parts, verdict) => {
    expect(compareWithSource(graph([write], parts), finding)).toContain(verdict)
  })
})

describe('findings', () => {
  it('are sections: the source, the reason, and the next change', () => {
    const text =
      'x\n\n## stats v1 read\n\n> `L` with 70 % (logger, 70 %)\n\nBe\ncause.\n\nNext: that.\n\n## kv v4 get\n\nhas none.\n\nNext: it.\n'
    expect([...parseFindings(text)]).toEqual([
      [
        'stats v1 read',
        { source: { says: '`L` with 70 %', part: 'logger', share: 70 }, why: 'Be cause.', next: 'that.' },
      ],
      ['kv v4 get', { why: 'has none.', next: 'it.' }],
    ])
    expect(() => parseFindings('\n## stats v1 read\n\nBecause.\n')).toThrow('stats v1 read')
    expect(readFindings().size).toBeGreaterThan(15)
  })

  it('of a graph have no shares, which `hot.json` gives, and no other results without a mark', () => {
    const OF_GRAPHS = /^\w+ v\d+ [\w-]+$/
    const faults = [...readFindings()].filter(
      ([name, { why, next }]) =>
        OF_GRAPHS.test(name) && /\d %/.test(`${why} ${next}`.replaceAll(/<!--=.*?<!--\/-->/g, '')),
    )
    expect(faults).toEqual([])
  })
})
