import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CampaignSource } from '../src/core/campaign.ts'
import { getActiveSources, getPlaylistId, hashRules, selectUploads } from '../src/core/follow/upload-rules.ts'

const CHANNEL = 'UC0007000700070007000700'
const UPLOADS = 'UU0007000700070007000700'
const source: CampaignSource = { type: 'channel', id: CHANNEL }
const CREATED = Date.parse('2026-03-05T10:00:00Z')
const base = { id: 'c', revision: CREATED * 1_000, created: CREATED * 1_000 }

const select = (contains: string[] | undefined, title: string, description = '') =>
  Object.keys(
    selectUploads({ ...base, sources: [{ ...source, ...(contains && { contains }) }] }, UPLOADS, [
      { id: 'a', title, description, publishedAt: '2026-03-06T00:00:00.000Z' },
    ]),
  ).length === 1

describe('the words of a source', () => {
  it.each([
    [['spring'], 'Our SPRING look', true],
    [['spring'], 'Springtime', false],
    [['spring'], 'offspring', false],
    [['spring', 'water'], 'Still water', true],
    [['sparkling water'], 'Sparkling   water!', true],
    [['sparkling water'], 'sparkling waters', false],
    [['#ad'], 'Look #ad', true],
    [['#ad'], 'Look #adidas', false],
    [['#ad'], 'Look ad', false],
    [['#ad'], '#ad', true],
    [['ad'], '#ad', true],
    [['straße'], 'Die Straße', true],
    [['café'], 'Cafe\u0301 tour', true],
    [['水'], '炭酸水です', true],
    [['50%'], 'Now 50% off', true],
    [['c++'], 'I learn C++', true],
    [['(.*)+$'], 'anything', false],
    [undefined, '', true],
    [[], 'anything', true],
  ])('%j in "%s": %s', (contains, title, expected) => {
    expect(select(contains, title)).toBe(expected)
    if (contains?.length) expect(select(contains, 'Other', title)).toBe(expected)
  })

  it('find themselves in any text that contains them between spaces', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== '')
    fc.assert(
      fc.property(word, fc.lorem(), fc.lorem(), (text, before, after) => {
        // A combining character would join the space before it.
        fc.pre(!/^\p{M}/u.test(text.normalize('NFKC').trim()))
        expect(select([text], `${before} ${text} ${after}`)).toBe(true)
      }),
    )
  })
})

describe('the period of a campaign', () => {
  const publish = (publishedAt?: string) => [{ id: 'a', ...(publishedAt && { publishedAt }) }]
  const adds = (dates: { from?: string; to?: string }, publishedAt?: string) =>
    'a' in selectUploads({ ...base, ...dates, sources: [source] }, UPLOADS, publish(publishedAt))

  it('includes its first and last day, in UTC', () => {
    const dates = { from: '2026-03-01', to: '2026-03-31' }
    expect(adds(dates, '2026-02-28T23:59:59.999Z')).toBe(false)
    expect(adds(dates, '2026-03-01T00:00:00.000Z')).toBe(true)
    expect(adds(dates, '2026-03-31T23:59:59.999Z')).toBe(true)
    expect(adds(dates, '2026-04-01T00:00:00.000Z')).toBe(false)
  })

  it('begins with the creation of a campaign without a first day, and does not end without a last one', () => {
    expect(adds({}, '2026-03-05T09:59:59.000Z')).toBe(false)
    expect(adds({}, '2036-03-05T10:00:00.000Z')).toBe(true)
    expect(adds({}, undefined)).toBe(false)
    expect(adds({}, 'yesterday')).toBe(false)
  })

  it('ends the reads of a source a day after it, and those of an archived campaign', () => {
    const campaign = { ...base, from: '2026-03-01', to: '2026-03-31', sources: [source] }
    const count = (day: string, more = {}) => getActiveSources({ ...campaign, ...more }, Date.parse(day)).length
    expect(['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-01', '2026-04-02'].map((day) => count(day))).toEqual([
      0, 1, 1, 1, 0,
    ])
    expect(count('2026-03-10', { archived: true })).toBe(0)
  })
})

it('names the source that added an upload, the first one that matches', () => {
  const playlist: CampaignSource = { type: 'playlist', id: UPLOADS }
  const campaign = { ...base, sources: [{ ...source, contains: ['no'] }, playlist] }
  const upload = { id: 'a', title: 'yes', publishedAt: '2026-03-06T00:00:00.000Z' }
  expect(selectUploads(campaign, UPLOADS, [upload])).toEqual({ a: UPLOADS })
  expect(selectUploads(campaign, 'PLother', [upload])).toEqual({})
  expect([getPlaylistId(source), getPlaylistId(playlist)]).toEqual([UPLOADS, UPLOADS])
})

it('changes the hash of the rules with what decides on uploads only', () => {
  const campaign = { ...base, sources: [source] }
  const before = hashRules([campaign], UPLOADS)
  const same = {
    ...campaign,
    revision: 9,
    sources: [
      { ...source, title: 'T' },
      { ...source, id: 'PLother' },
    ],
  }
  expect(hashRules([same], UPLOADS)).toBe(before)
  for (const change of [{ from: '2026-01-01' }, { to: '2026-01-01' }, { sources: [{ ...source, contains: ['x'] }] }])
    expect(hashRules([{ ...campaign, ...change }], UPLOADS)).not.toBe(before)
})
