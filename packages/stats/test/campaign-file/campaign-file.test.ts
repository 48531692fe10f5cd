import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExportedCampaign } from '../../src/core/campaign-file/campaign-content.ts'
import { readCampaignsCsv } from '../../src/core/campaign-file/read-campaigns.ts'
import { renderCampaignRows, renderCampaignsCsv } from '../../src/core/campaign-file/render-campaigns.ts'
import { campaigns } from './support/campaigns.ts'

const [A, B, C] = ['-4lB5EKS5Uk', '1FEFpk-uIYo', 'dQw4w9WgXcQ'] as const
const CHANNEL = 'UCabcdefghijklmnopqrstuv'
const TIKTOK = 'https://www.tiktok.com/@bob/video/7123456789012345678'

const toCsv = async (all: readonly ExportedCampaign[]) => (await Array.fromAsync(renderCampaignsCsv(all))).join('')
const listContents = (text: string) => readCampaignsCsv(text)!.campaigns.map(({ content }) => content)

const SPRING: ExportedCampaign = {
  id: 'spring',
  name: '=Spring, "sparkling"',
  tags: ['a, b', '#c', ' d'],
  from: '2026-03-01',
  to: '2026-05-31',
  currency: 'EUR',
  videos: [A, B],
  fees: [
    { creator: CHANNEL, amount: 1_234.5 },
    { creator: 'Bob', amount: 1.234 },
  ],
  sources: [{ type: 'channel', id: CHANNEL, contains: ['#cola', 'spring'], title: 'Anna' }],
  followed: { [B]: CHANNEL },
  refused: [C],
  archived: true,
  posts: [
    {
      id: 'tiktok-1',
      platform: 'tiktok',
      url: TIKTOK,
      numbers: { views: 1_200, saves: 3, at: '2026-03-05T10:00:00.000Z', note: 'by mail' },
    },
  ],
}

describe('an exported file', () => {
  it('gives the same campaigns when it is imported', async () => {
    await fc.assert(
      fc.asyncProperty(campaigns, async (all) => {
        const read = readCampaignsCsv(await toCsv(all))!
        expect(read).toMatchObject({ refused: [], invalid: [], unknownHeadings: [] })
        expect(read.campaigns.map(({ content }) => content)).toEqual(all)
        expect(read.campaigns.some((one) => one.doubtful ?? one.channels)).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  it('has sums, rates and creators for its readers, which an import ignores', async () => {
    const campaign: ExportedCampaign = {
      ...SPRING,
      sums: { views: 2_000, engagements: 100, costPerThousandViews: 617.867, asOf: '2026-03-05T10:00:00.000Z' },
      videoDetails: new Map([[A, { title: 'A "video"', creator: 'Anna', views: 1_500, likes: 10 }]]),
      creatorDetails: new Map([
        [CHANNEL, { title: 'Anna', views: 1_500 }],
        ['Cem', { views: 500, engagements: 5 }],
      ]),
    }
    const [headings, ...rows] = await Array.fromAsync(renderCampaignRows([campaign]))
    const list = rows.map((row) => Object.fromEntries(headings!.map((heading, i) => [heading, row[i]])))
    expect(list.map((row) => row['Type'])).toEqual(
      'campaign creator creator creator source video video removed post'.split(' '),
    )
    expect(list[0]).toMatchObject({ Views: 2_000, 'Engagement rate': 0.05, 'Cost per 1000 views': 617.867 })
    expect(list[1]).toMatchObject({ Creator: CHANNEL, Title: 'Anna', Fee: 1_234.5, Views: 1_500 })
    expect(list[3]).toMatchObject({ Creator: 'Cem', Fee: undefined, 'Engagement rate': 0.01 })
    expect(list[5]).toMatchObject({ Title: 'A "video"', Views: 1_500, Creator: 'Anna' })
    expect(listContents(await toCsv([campaign]))).toEqual([SPRING])
  })

  it('may come back from a German spreadsheet, with semicolons and decimal commas', async () => {
    const [headings, ...rows] = await Array.fromAsync(renderCampaignRows([SPRING]))
    const format = (cell: unknown) =>
      typeof cell === 'number' ? String(cell).replace('.', ',') : `"${String(cell ?? '').replaceAll('"', '""')}"`
    const text = [headings!, ...rows].map((row) => row.map(format).join(';')).join('\r\n')
    expect(listContents(text)).toEqual([
      // A spreadsheet never writes 1,234 for a number in German if it is 1234.
      {
        ...SPRING,
        fees: [
          { creator: CHANNEL, amount: 1_234.5 },
          { creator: 'Bob', amount: 1_234 },
        ],
      },
    ])
  })

  it('refuses changed rows, with their lines', async () => {
    const lines = (await toCsv([SPRING])).split('\r\n')
    const at = lines.findIndex((line) => line.includes(`v=${A}`))
    lines[at] = lines[at]!.replace(`v=${A}`, 'v=short')
    lines.splice(at + 1, 0, lines[at + 1]!)
    lines.push(lines[1]!.replace(',campaign,,', `,video,${TIKTOK},`))
    const { campaigns: read, refused } = readCampaignsCsv(lines.filter(Boolean).join('\r\n'))!
    expect(read[0]!.content.videos).toEqual([B])
    expect(refused).toMatchObject([
      { line: at + 1, reason: 'MALFORMED_ID', text: 'https://www.youtube.com/watch?v=short' },
      { line: at + 3, reason: 'DUPLICATE' },
      { reason: 'OTHER_TYPE', text: TIKTOK },
    ])
  })
})

describe('a file of a person', () => {
  it('has a row for each link, with the values of its campaign', () => {
    const text = [
      'Kampagne;Link;Creator;Honorar;Von;Bis;Tags;Aufrufe;Stand;Laune',
      `Frühling;https://youtu.be/${A};Anna;1.200 €;1.3.2026;31.5.2026;cola, bio;;;gut`,
      `;https://youtu.be/${B};Anna;800;;;;;;`,
      `;${TIKTOK};;300,50;;;sommer;12,5k;5.3.2026;`,
      ';gibt es noch nicht;Cem;;;;;;;',
      'Sommer;dQw4w9WgXcQ;;;später;;;;;',
      'Sommer;@nasa;;;;;;;;',
      `Frühling;https://youtu.be/${A};;;;;;;;`,
    ].join('\n')
    const { campaigns: read, refused, invalid, unknownHeadings } = readCampaignsCsv(text)!
    expect(read).toEqual([
      {
        line: 2,
        content: {
          name: 'Frühling',
          from: '2026-03-01',
          to: '2026-05-31',
          currency: 'EUR',
          tags: ['cola', 'bio', 'sommer'],
          videos: [A, B],
          fees: [
            { creator: 'Anna', amount: 2_000 },
            { creator: '@bob', amount: 300.5 },
          ],
          posts: [
            {
              id: 'tiktok-7123456789012345678',
              platform: 'tiktok',
              url: TIKTOK,
              creator: '@bob',
              numbers: { views: 12_500, at: '2026-03-05T00:00:00.000Z' },
            },
          ],
        },
      },
      {
        line: 6,
        content: { name: 'Sommer', videos: [C] },
        doubtful: [C],
        channels: [expect.objectContaining({ name: 'nasa', nameKind: 'handle' })],
      },
    ])
    expect(refused).toEqual([
      { line: 5, reason: 'NO_LINK', text: 'gibt es noch nicht' },
      { line: 8, reason: 'DUPLICATE', text: `https://youtu.be/${A}` },
    ])
    expect(invalid).toEqual([{ line: 6, field: 'from', text: 'später' }])
    expect(unknownHeadings).toEqual(['Laune'])
  })

  it('may state fees without creators, which are a cost unless other rows have some', () => {
    const rows = (creator: string) =>
      `Campaign,Link,Creator,Fee\nA,https://youtu.be/${A},,5\nA,https://youtu.be/${B},${creator},7\n`
    expect(listContents(rows(''))).toEqual([{ name: 'A', videos: [A, B], cost: 12 }])
    expect(readCampaignsCsv(rows('Anna'))).toMatchObject({
      campaigns: [{ content: { fees: [{ creator: 'Anna', amount: 7 }] } }],
      invalid: [{ line: 2, field: 'fee', text: '5' }],
    })
  })

  it('is none without headings', () => {
    expect(readCampaignsCsv(`https://youtu.be/${A}\n`)).toBeUndefined()
    expect(readCampaignsCsv('')).toBeUndefined()
  })
})
