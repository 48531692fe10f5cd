import fc from 'fast-check'
import type { CampaignContent, CampaignPost } from '../../../src/core/campaign-file/campaign-content.ts'
import { CURRENCIES, type CampaignSource } from '../../../src/core/campaign.ts'
import { readWord } from '../../../src/core/paste/read-word.ts'
import { videoId } from '../../support/video-numbers.ts'

/** Text that spreadsheets and parsers of CSV treat specially. */
const oddText = fc.string({
  minLength: 1,
  maxLength: 8,
  unit: fc.constantFrom(
    '"',
    ',',
    ';',
    '\t',
    '\n',
    '\r',
    '=',
    '-',
    "'",
    '#',
    ' ',
    '\u00a0',
    '|',
    '0',
    'a',
    'ü',
    '＝',
    '👩‍🚀',
  ),
})
const text = fc.oneof(
  oddText,
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
  fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom('\u0001', '\b', '\u001f', '\uffff', '_', 'x', '0') }),
  fc.constantFrom(
    '2026-03-01',
    '1.200',
    '007',
    'yes',
    'Link',
    'https://youtu.be/-4lB5EKS5Uk',
    '@anna',
    '_x000D_',
    'true',
  ),
)
const texts = fc.uniqueArray(text, { minLength: 1, maxLength: 4 })
const day = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const time = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())
const amount = fc.oneof(
  fc.nat(),
  fc.double({ min: 0, max: 1e15, noNaN: true }).map((value) => (value === 0 ? 0 : value)),
)
const count = fc.oneof(fc.nat(), fc.nat({ max: 2 ** 50 }))
const digits = fc.bigInt({ min: 10n ** 17n, max: 10n ** 19n - 1n }).map(String)
const collectionId = fc.stringMatching(/^[A-Za-z0-9._~-]{1,20}$/)
const base64 = (length: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9_-]{${length}}$`))

const postUrl = fc.oneof(
  digits.map((id) => `https://www.tiktok.com/@bob/video/${id}`),
  digits.map((id) => `https://x.com/i/status/${id}`),
  digits.map((id) => `https://www.linkedin.com/feed/update/urn:li:activity:${id}/`),
  base64(11).map((id) => `https://www.instagram.com/reel/${id}/`),
  fc.constant('https://fb.watch/abc123/'),
)

const report = fc.record(
  { at: time, views: count, likes: count, comments: count, shares: count, saves: count, note: text },
  { requiredKeys: ['at'] },
)

const post: fc.Arbitrary<CampaignPost> = fc
  .record(
    {
      id: collectionId,
      url: postUrl,
      creator: text,
      title: text,
      published: fc.oneof(day, time),
      numbers: report,
      reports: fc.array(report, { minLength: 2, maxLength: 3 }),
    },
    { requiredKeys: ['id', 'url'] },
  )
  .map((one) => {
    const content = readWord(one.url)
    if (!content || !('link' in content) || content.link.type !== 'post') throw new Error(one.url)
    return { ...one, platform: content.link.platform }
  })

const source: fc.Arbitrary<CampaignSource> = fc.oneof(
  fc.record(
    { type: fc.constant('channel' as const), id: base64(22).map((id) => `UC${id}`), contains: texts, title: text },
    { requiredKeys: ['type', 'id'] },
  ),
  fc.record(
    { type: fc.constant('playlist' as const), id: base64(32).map((id) => `PL${id}`), contains: texts, title: text },
    { requiredKeys: ['type', 'id'] },
  ),
)

const fee = fc.record({ creator: text, amount })

/** Contents of campaigns with an id. */
export const campaign: fc.Arbitrary<CampaignContent & { readonly id: string }> = fc
  .record(
    {
      id: collectionId,
      name: text,
      tags: texts,
      from: day,
      to: day,
      cost: amount,
      currency: fc.constantFrom(...CURRENCIES),
      videos: fc.uniqueArray(videoId, { maxLength: 5 }),
      fees: fc.uniqueArray(fee, { minLength: 1, maxLength: 4, selector: ({ creator }) => creator }),
      sources: fc.uniqueArray(source, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
      refused: fc.uniqueArray(videoId, { minLength: 1, maxLength: 3 }),
      archived: fc.constant(true as const),
      posts: fc.uniqueArray(post, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    },
    { requiredKeys: ['id', 'videos'] },
  )
  .map(({ cost, ...one }) => {
    // A campaign has either one cost or fees.
    const priced = cost === undefined || one.fees ? one : { ...one, cost }
    return { ...priced, ...withFollowed(one) }
  })

function withFollowed(one: Pick<CampaignContent, 'videos' | 'sources'>) {
  const [followed, by] = [one.videos[0], one.sources?.[0]?.id]
  return followed !== undefined && by !== undefined ? { followed: { [followed]: by } } : {}
}

export const campaigns = fc.uniqueArray(campaign, { maxLength: 5, selector: ({ id }) => id })
