import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CREATOR_SORTS, selectCreators, type CreatorSort } from '../src/campaigns/creators/creator-selection.ts'
import type { CreatorSummary } from '../src/campaigns/creators/creator.ts'
import { parseCursor, toCursor } from '../src/campaigns/overview/overview-selection.ts'
import type { Fee } from '../src/core/campaign.ts'
import { sum } from '../src/core/video-numbers.ts'
import { channelId, createIndex } from './support/creators.ts'
import { createNumbers } from './support/video-numbers.ts'

const ids = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc', 'ddddddddddd'] as const
const [A, B, C, D] = ids
/** The first two videos belong to channel 1, the third to channel 2; the channel of the last one is unknown. */
const getChannel = (video: string) => ({ [A]: 1, [B]: 1, [C]: 2 })[video]
const numbers = ids.map((id, i) => createNumbers(id, (i + 1) * 1_000))
const list = { sort: '-impressions', limit: 100 } as const

describe('creators of a campaign', () => {
  it('have the sums of their videos, and add up to those of the campaign', async () => {
    const { index } = createIndex({ campaigns: [{ id: 'c', videos: ids }], numbers, getChannel })
    const { creators, unattributed } = (await index.getCampaign('c'))!
    expect(creators).toEqual([
      {
        id: channelId(1),
        title: 'Channel 1',
        stats: sum(numbers.slice(0, 2)),
        rate: 32 / 3_000,
        share: 0.3,
      },
      { id: channelId(2), title: 'Channel 2', stats: sum([numbers[2]!]), rate: 16 / 3_000, share: 0.3 },
    ])
    expect(unattributed).toEqual(sum([numbers[3]!]))
    expect(await index.getCampaign('none')).toBeUndefined()
  })

  it('state a hidden count of subscribers as hidden, never as 0', async () => {
    const channels = [
      { id: channelId(1), title: 'Anna', subscribers: 0, hidesSubscribers: true as const, asOf: 1, views: 5 },
      { id: channelId(2), subscribers: 0, asOf: 1 },
    ]
    const { index } = createIndex({ campaigns: [{ id: 'c', videos: ids }], numbers, getChannel, channels })
    const { creators } = (await index.getCampaign('c'))!
    expect(creators[0]).toMatchObject({ title: 'Anna', hidesSubscribers: true })
    expect(creators[0]).not.toHaveProperty('subscribers')
    expect(creators[0]).not.toHaveProperty('views')
    expect(creators[1]).toMatchObject({ title: 'Channel 2', subscribers: 0 })
    expect((await index.getPage({ ...list, sort: '-subscribers' })).rows.map(({ id }) => id)).toEqual([
      channelId(2),
      channelId(1),
    ])
  })

  const channels = [{ id: channelId(1), title: 'Anna Cooks', handle: '@annacooks', asOf: 1 }]
  const cases: readonly (readonly [string, readonly Fee[], Record<string, number>])[] = [
    ['the id', [{ creator: channelId(2), amount: 50 }], { [channelId(2)]: 50 }],
    ['the title', [{ creator: 'anna cooks ', amount: 50 }], { [channelId(1)]: 50 }],
    ['the title in the videos', [{ creator: 'Channel 1', amount: 50 }], { [channelId(1)]: 50 }],
    ['the handle', [{ creator: '@AnnaCooks', amount: 50 }], { [channelId(1)]: 50 }],
    ['the handle without @', [{ creator: 'annacooks', amount: 0 }], { [channelId(1)]: 0 }],
    [
      'both, which add up',
      [
        { creator: 'Anna Cooks', amount: 20 },
        { creator: channelId(1), amount: 30 },
      ],
      { [channelId(1)]: 50 },
    ],
    ['a name without videos', [{ creator: 'Bea', amount: 50 }], { Bea: 50 }],
    ['a channel without videos', [{ creator: channelId(9), amount: 50 }], { [channelId(9)]: 50 }],
  ]
  it.each(cases)('get the fee for %s', async (_, fees, expected) => {
    const { index } = createIndex({ campaigns: [{ id: 'c', videos: ids, fees }], numbers, getChannel, channels })
    const { creators } = (await index.getCampaign('c'))!
    const withFee = creators.filter(({ fee }) => fee !== undefined)
    expect(Object.fromEntries(withFee.map(({ id, fee }) => [id, fee]))).toEqual(expected)
    for (const { fee, stats, costs } of withFee)
      expect(costs).toEqual(
        stats.impressions > 0
          ? { perThousandViews: (fee! / stats.impressions) * 1_000, perEngagement: fee! / stats.engagements }
          : {},
      )
    for (const creator of creators.filter(({ fee }) => fee === undefined)) expect(creator).not.toHaveProperty('costs')
  })

  it('get no fee for a title that two of them have', async () => {
    const twins = [1, 2].map((number) => ({ id: channelId(number), title: 'Twin', asOf: 1 }))
    const fees = [{ creator: 'Twin', amount: 5 }]
    const campaigns = [{ id: 'c', videos: ids, fees }]
    const { index } = createIndex({ campaigns, numbers, getChannel, channels: twins })
    const { creators } = (await index.getCampaign('c'))!
    expect(creators.map(({ id, fee }) => [id, fee])).toEqual([
      [channelId(1), undefined],
      [channelId(2), undefined],
      ['Twin', 5],
    ])
  })
})

describe('creators over all campaigns', () => {
  const campaigns = [
    { id: 'x', videos: [A, C], name: 'X', currency: 'EUR', fees: [{ creator: channelId(1), amount: 30 }] },
    { id: 'y', videos: [A, B, D], fees: [{ creator: 'Channel 1', amount: 70 }], currency: 'EUR' },
    { id: 'z', videos: [B], cost: 500 },
  ]

  it('count a video of several campaigns once', async () => {
    const { index } = createIndex({ campaigns, numbers, getChannel })
    const { rows, total } = await index.getPage(list)
    expect(total).toBe(2)
    expect(rows[0]).toEqual({
      id: channelId(1),
      title: 'Channel 1',
      stats: sum(numbers.slice(0, 2)),
      rate: 32 / 3_000,
      campaignCount: 3,
      fees: [{ currency: 'EUR', amount: 100 }],
      costs: { perThousandViews: (100 / 3_000) * 1_000, perEngagement: 100 / 32 },
      asOf: 1_000,
      at: expect.any(Number),
    })
    const details = (await index.getDetails(channelId(1)))!
    expect(details.summary).toEqual(rows[0])
    expect(details.campaigns).toEqual([
      {
        id: 'y',
        currency: 'EUR',
        stats: sum(numbers.slice(0, 2)),
        rate: 32 / 3_000,
        share: 3 / 7,
        fee: 70,
        costs: { perThousandViews: (70 / 3_000) * 1_000, perEngagement: 70 / 32 },
      },
      { id: 'z', stats: sum([numbers[1]!]), rate: 16 / 2_000, share: 1 },
      {
        id: 'x',
        name: 'X',
        currency: 'EUR',
        stats: sum([numbers[0]!]),
        rate: 16 / 1_000,
        share: 1 / 4,
        fee: 30,
        costs: { perThousandViews: 30, perEngagement: 30 / 16 },
      },
    ])
    expect(details.videos).toEqual([
      { id: B, numbers: numbers[1], campaigns: ['y', 'z'] },
      { id: A, numbers: numbers[0], campaigns: ['x', 'y'] },
    ])
    expect(await index.getDetails('none')).toBeUndefined()
  })

  it('have the fees of each currency, and costs only in one', async () => {
    const mixed = [...campaigns, { id: 'w', videos: [A], fees: [{ creator: channelId(1), amount: 5 }] }]
    const { index } = createIndex({ campaigns: mixed, numbers, getChannel })
    const [first] = (await index.getPage(list)).rows
    expect(first!.fees).toEqual([{ amount: 5 }, { currency: 'EUR', amount: 100 }])
    expect(first).not.toHaveProperty('costs')
  })

  it('have the newest of the stored numbers of a video', async () => {
    const old = createIndex({ campaigns: [{ id: 'c', videos: [A] }], numbers, getChannel })
    const newer = createNumbers(A, 5_000)
    old.state.put({ id: 'd', videos: [A], revision: 1 })
    old.state.putSnapshots([{ id: 'd', snapshot: { videos: [newer], missing: [], asOf: 2_000 } }])
    const [row] = (await old.index.getPage(list)).rows
    expect(row!.stats).toEqual(sum([newer]))
    expect(row!.asOf).toBe(1_000)
  })
})

const summary: fc.Arbitrary<CreatorSummary> = fc
  .record({
    id: fc.string({ minLength: 1, maxLength: 3 }),
    title: fc.option(fc.constantFrom('Anna', 'anna 10', 'anna 9', 'Zoë'), { nil: undefined }),
    views: fc.integer({ min: 0, max: 3 }),
    subscribers: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    fee: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  })
  .map(({ id, title, views, subscribers, fee }) => ({
    id,
    ...(title !== undefined && { title }),
    ...(subscribers !== undefined && { subscribers }),
    ...(fee !== undefined && { fees: [{ amount: fee }], costs: { perThousandViews: fee } }),
    stats: { impressions: views, engagements: views, score: views, videos: 1 },
    campaignCount: views,
  }))

describe('a page of creators', () => {
  it('contains each creator once, in the order, whatever the size of the pages', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(summary, { selector: ({ id }) => id, maxLength: 20 }),
        fc.constantFrom(...CREATOR_SORTS),
        fc.integer({ min: 1, max: 7 }),
        (creators, sort: CreatorSort, limit) => {
          const whole = selectCreators(creators, { sort, limit: 100 })
          expect(whole.total).toBe(creators.length)
          const found: CreatorSummary[] = []
          for (let cursor: string | undefined, isLast = false; !isLast;) {
            const after = cursor === undefined ? undefined : parseCursor(sort, cursor)
            const page = selectCreators(creators, { sort, limit, after })
            found.push(...page.rows)
            isLast = page.end === undefined
            cursor = page.end && toCursor(sort, page.end)
          }
          expect(found).toEqual(whole.rows)
        },
      ),
    )
  })

  it('contains the creators with all words in title, handle or id', async () => {
    const channels = [{ id: channelId(1), title: 'Zoë Cooks', handle: '@zoecooks', asOf: 1 }]
    const { index } = createIndex({ campaigns: [{ id: 'c', videos: ids }], numbers, getChannel, channels })
    const find = async (q: string) => (await index.getPage({ ...list, q })).rows.map(({ id }) => id)
    expect(await find('zoë COOKS')).toEqual([channelId(1)])
    expect(await find('@zoeco')).toEqual([channelId(1)])
    expect(await find(channelId(2))).toEqual([channelId(2)])
    expect(await find('cooks channel')).toEqual([])
    expect(await find(' ')).toHaveLength(2)
  })
})
