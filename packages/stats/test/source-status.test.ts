import { describe, expect, it } from 'vitest'
import { getSourceStatus } from '../src/core/follow/source-status.ts'
import { DAY_MS, getTimeUntilReset } from '../src/core/quota-budget.ts'
import type { UpstreamState } from '../src/core/upstream-state.ts'

const NOW_MS = Date.parse('2026-03-10T12:00:00Z')
const source = { type: 'channel' as const, id: 'UC0007000700070007000700', contains: ['#spring'] }
const campaign = { id: 'c', revision: 1, videos: [], from: '2026-03-01', to: '2026-03-31', sources: [source] }
const kinds = { videos: 0, channels: 0, playlistItems: 0, lookups: 0 }
const budget = { limit: 10_000, used: 0, left: 10_000, kinds }
const ok: UpstreamState = { state: 'ok', source: 'stand-in', budget }
const feed = { asOf: NOW_MS - 60_000, nextAt: NOW_MS + 840_000, rules: 'r', newest: [] }
const at = (time: number) => new Date(time).toISOString()

const read = (more: object = {}, fields: object = {}) =>
  getSourceStatus({ ...campaign, ...fields }, source, { feed, upstream: ok, isPolled: true, now: NOW_MS, ...more })

describe('the state of a source', () => {
  it('states the checks and the videos that it added', () => {
    const followed = { aaaaaaaaaaa: source.id, bbbbbbbbbbb: 'PLother', ccccccccccc: source.id }
    expect(read({}, { followed })).toEqual({
      ...source,
      state: 'active',
      added: 2,
      checked: at(NOW_MS - 60_000),
      next: at(NOW_MS + 840_000),
    })
  })

  it.each([
    ['waiting before its first check', { feed: undefined }, {}, { state: 'waiting', next: at(NOW_MS) }],
    ['due at once if its check is late', { now: NOW_MS + DAY_MS }, {}, { state: 'active', next: at(NOW_MS + DAY_MS) }],
    [
      'failing with the reason of YouTube',
      { feed: { ...feed, reason: 'playlistNotFound' } },
      {},
      { state: 'failing', reason: 'playlistNotFound', next: at(feed.nextAt) },
    ],
    [
      'paused in an outage',
      { upstream: { ...ok, state: 'paused', reason: 'quotaExceeded', retryAt: at(NOW_MS + DAY_MS) } },
      {},
      { state: 'paused', reason: 'quotaExceeded', next: at(NOW_MS + DAY_MS) },
    ],
    [
      'paused once a tenth of the budget is used up',
      { upstream: { ...ok, budget: { ...budget, kinds: { ...kinds, channels: 400, playlistItems: 600 } } } },
      {},
      { state: 'paused', reason: 'sideBudgetSpent', next: at(NOW_MS + getTimeUntilReset(NOW_MS)) },
    ],
    [
      'active without a budget',
      {
        upstream: {
          ...ok,
          budget: { limit: null, used: 9_000, left: null, kinds: { ...kinds, playlistItems: 9_000 } },
        },
      },
      {},
      { state: 'active', next: at(feed.nextAt) },
    ],
    ['inactive in the archive', {}, { archived: true }, { state: 'inactive', reason: 'archived' }],
    ['inactive a day after the last day', { now: NOW_MS + 23 * DAY_MS }, {}, { state: 'inactive', reason: 'ended' }],
    [
      'inactive before the first day',
      { feed: undefined },
      { from: '2026-03-20' },
      { state: 'inactive', reason: 'notBegun', next: '2026-03-20T00:00:00.000Z' },
    ],
    ['inactive without a poller', { isPolled: false, feed: undefined }, {}, { state: 'inactive', reason: 'noPoller' }],
  ])('is %s', (_name, more, fields, expected) => {
    const { state, reason, next } = read(more, fields)
    expect({ state, ...(reason && { reason }), ...(next && { next }) }).toEqual(expected)
  })
})
