import { UNAVAILABLE_CODES } from '@influencer-stats/log/availability'
import { describe, expect, it } from 'vitest'
import { createFormats } from '../src/page/core/format.ts'
import {
  describeMajority,
  describeOutage,
  findNewestReport,
  findOutageCode,
  summarizeWrites,
  type LogServer,
  type LogServers,
} from '../src/page/core/log-overview.ts'

const [EARLY, LATE] = ['2026-11-27T08:00:00.000Z', '2026-11-27T08:00:10.000Z']
const lost = (since: string) => ({ ready: false, code: 'LOG_LOST', detail: 'stream kv does not exist', since })

describe('writes of a service', () => {
  it.each([
    ['unknown', [{ node: 'kv.1' }]],
    ['all', [{ node: 'kv.1', writes: { ready: true } }, { node: 'kv.2' }]],
    [
      'some',
      [
        { node: 'kv.1', writes: { ready: true } },
        { node: 'kv.2', writes: lost(EARLY) },
      ],
    ],
    ['none', [{ node: 'kv.1' }, { node: 'kv.2', writes: lost(EARLY) }]],
  ] as const)('are possible on %s of the nodes whose state is known', (state, nodes) => {
    expect(summarizeWrites(nodes).state).toBe(state)
  })

  it('have one outage for each reason, since its first start', () => {
    const unreachable = { ready: false, isEmpty: true, code: 'NATS_UNREACHABLE' }
    const nodes = [lost(LATE), unreachable, lost(EARLY)].map((writes, i) => ({ node: `kv.${i + 1}`, writes }))
    expect(summarizeWrites(nodes).outages).toEqual([
      { code: 'LOG_LOST', detail: 'stream kv does not exist', since: EARLY, isEmpty: false, nodes: ['kv.1', 'kv.3'] },
      { code: 'NATS_UNREACHABLE', detail: undefined, since: undefined, isEmpty: true, nodes: ['kv.2'] },
    ])
  })
})

describe('an outage', () => {
  it.each(UNAVAILABLE_CODES)('%s has a cause and a remedy', (code) => {
    const { cause, remedy } = describeOutage(code)
    expect(cause).not.toBe(describeOutage('another').cause)
    expect(
      [cause, remedy].filter((text) => !/^[A-Z].*[.]$/.test(text) && !text.endsWith('pnpm cluster rescue.')),
    ).toEqual([])
    expect(findOutageCode(code)).toBe(code)
  })

  it('of a lost log points to the chapter about a rescue', () => {
    expect(describeOutage('LOG_LOST')).toMatchObject({
      remedy: expect.stringContaining('pnpm cluster rescue'),
      chapter: 'When the log is lost',
    })
    expect(describeOutage('LOG_UNREACHABLE').chapter).toBeUndefined()
  })

  it.each([undefined, 'draining', 'toString'])('is not the detail %s of a node that is not ready', (detail) => {
    expect(findOutageCode(detail)).toBeUndefined()
  })
})

const servers = (...states: LogServer['state'][]) =>
  states.map((state, i): LogServer => ({ name: `n${i + 1}`, role: 'replica', state }))

describe('servers of a log', () => {
  it.each([
    [servers('current', 'behind', 'current'), undefined],
    [servers('unknown', 'unknown', 'unknown'), undefined],
    [
      servers('current', 'current', 'offline'),
      '2 of 3 servers are up: writes continue, but no longer if one more stops. Start n3.',
    ],
    [
      servers('current', 'current', 'current', 'behind', 'offline'),
      '4 of 5 servers are up: writes continue. Start n5.',
    ],
    [servers('current', 'offline', 'offline'), '1 of 3 servers are up: writes need more than half. Start n2, n3.'],
  ])('are a majority, or not', (some, text) => {
    expect(describeMajority(some)).toBe(text)
  })

  it('are those of the newest report with known states', () => {
    const known = (observedAt: string): LogServers => ({ stream: 'kv', servers: servers('current'), observedAt })
    const old = { stream: 'kv', servers: servers('unknown'), observedAt: LATE }
    const [first, second] = [known(EARLY), known(LATE)]
    const find = (...logs: (LogServers | undefined)[]) => findNewestReport(logs.map((log) => ({ node: 'kv', log })))
    expect(find(old, first)).toBe(first)
    expect(find(first, undefined, second, old)).toBe(second)
    expect(find(undefined, old)).toBe(old)
    expect(find()).toBeUndefined()
  })
})

it.each([
  [0, '0 byte'],
  [999, '999 byte'],
  [1_000, '1 kB'],
  [48_120_331, '48.1 MB'],
  [1_073_741_824, '1.1 GB'],
  [5e15, '5,000 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(createFormats('en-US').bytes(bytes)).toBe(text)
})
