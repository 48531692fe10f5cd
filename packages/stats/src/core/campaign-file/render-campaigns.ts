import { BYTE_ORDER_MARK, formatCsvLine, type Cell } from '../csv/csv-line.ts'
import type { SheetField } from '../paste/headings.ts'
import { formatListCell } from '../csv/list-cell.ts'
import { toVideoUrl } from '../video-links.ts'
import type { CampaignSource } from '../campaign.ts'
import type { CampaignPost, ExportedCampaign, ExportedDetails, ExportedSums, PostReport } from './campaign-content.ts'

/** Type of a row. A campaign has one row of the first type. */
export type CampaignRowType = 'campaign' | 'creator' | 'source' | 'video' | 'removed' | 'post' | 'numbers'

type ColumnName = Exclude<SheetField, 'computed'> | keyof ComputedValues

interface ComputedValues {
  readonly platform?: Cell
  readonly engagements?: Cell
  readonly engagementRate?: Cell
  readonly costPerThousandViews?: Cell
  readonly costPerEngagement?: Cell
  readonly asOf?: Cell
}

/** The columns of a file with their headings. */
const COLUMNS: readonly (readonly [ColumnName, string])[] = [
  ['id', 'Campaign ID'],
  ['name', 'Campaign'],
  ['type', 'Type'],
  ['link', 'Link'],
  ['title', 'Title'],
  ['creator', 'Creator'],
  ['fee', 'Fee'],
  ['cost', 'Cost'],
  ['currency', 'Currency'],
  ['from', 'From'],
  ['to', 'To'],
  ['published', 'Published'],
  ['tags', 'Tags'],
  ['archived', 'Archived'],
  ['source', 'Source ID'],
  ['contains', 'Contains'],
  ['post', 'Post ID'],
  ['views', 'Views'],
  ['likes', 'Likes'],
  ['comments', 'Comments'],
  ['shares', 'Shares'],
  ['saves', 'Saves'],
  ['reportedAt', 'Reported at'],
  ['note', 'Note'],
  ['platform', 'Platform'],
  ['engagements', 'Engagements'],
  ['engagementRate', 'Engagement rate'],
  ['costPerThousandViews', 'Cost per 1000 views'],
  ['costPerEngagement', 'Cost per engagement'],
  ['asOf', 'As of'],
]

const HEADING_ROW: readonly Cell[] = COLUMNS.map(([, heading]) => heading)

type ExportedCampaigns = Iterable<ExportedCampaign> | AsyncIterable<ExportedCampaign>

type RowCells = { readonly [Name in ColumnName]?: Cell } & { readonly type: CampaignRowType }

/**
 * Yields the rows of a file, the headings first. Each campaign has one row with its properties and sums, and one for each
 * creator, source, video, removed upload and post, and for each of several reports of a post. Numbers of YouTube are for readers; an import ignores them.
 */
export async function* renderCampaignRows(campaigns: ExportedCampaigns): AsyncGenerator<readonly Cell[]> {
  yield HEADING_ROW
  for await (const campaign of campaigns) yield* renderCampaign(campaign)
}

/** Yields the text of a CSV file, in one piece per campaign. */
export async function* renderCampaignsCsv(campaigns: ExportedCampaigns): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + formatCsvLine(HEADING_ROW)
  for await (const campaign of campaigns) yield [...renderCampaign(campaign)].map(formatCsvLine).join('')
}

function* renderCampaign(campaign: ExportedCampaign): Generator<readonly Cell[]> {
  for (const row of listRows(campaign)) {
    const cells: { readonly [Name in ColumnName]?: Cell } = { id: campaign.id, name: campaign.name, ...row }
    yield COLUMNS.map(([name]) => cells[name])
  }
}

function* listRows(campaign: ExportedCampaign): Generator<RowCells> {
  const { currency, from, to, cost, tags, archived, sums, videoDetails } = campaign
  yield {
    type: 'campaign',
    cost,
    currency,
    from,
    to,
    tags: tags && formatListCell(tags),
    archived: archived ? 'yes' : undefined,
    ...toSumCells(sums),
  }
  yield* listCreatorRows(campaign)
  for (const source of campaign.sources ?? []) yield toSourceRow(source)
  for (const id of campaign.videos)
    yield {
      type: 'video',
      link: toVideoUrl(id),
      platform: 'youtube',
      source: campaign.followed?.[id],
      ...toDetailCells(videoDetails?.get(id)),
    }
  for (const id of campaign.refused ?? []) yield { type: 'removed', link: toVideoUrl(id), platform: 'youtube' }
  for (const post of campaign.posts ?? []) {
    yield toPostRow(post)
    for (const report of post.reports ?? []) yield { type: 'numbers', post: post.id, ...toReportCells(report) }
  }
}

/** Yields the creators with a fee in their order, then the others. */
function* listCreatorRows({ fees = [], creatorDetails, currency }: ExportedCampaign): Generator<RowCells> {
  for (const { creator, amount } of fees)
    yield { type: 'creator', fee: amount, currency, ...toDetailCells(creatorDetails?.get(creator)), creator }
  const paid = new Set(fees.map(({ creator }) => creator))
  for (const [creator, details] of creatorDetails ?? [])
    if (!paid.has(creator)) yield { type: 'creator', ...toDetailCells(details), creator }
}

const toSourceRow = ({ type, id, title, contains }: CampaignSource): RowCells => ({
  type: 'source',
  link: `https://www.youtube.com/${type === 'channel' ? 'channel/' : 'playlist?list='}${id}`,
  platform: 'youtube',
  source: id,
  title,
  contains: contains && formatListCell(contains),
})

const toPostRow = ({ id, platform, url, creator, title, published, numbers }: CampaignPost): RowCells => ({
  type: 'post',
  post: id,
  platform,
  link: url,
  creator,
  title,
  published,
  ...toReportCells(numbers),
})

const toReportCells = ({ at, ...numbers }: PostReport = {}) => ({ ...numbers, reportedAt: at })

const toDetailCells = ({ title, creator, likes, comments, ...sums }: ExportedDetails = {}) => ({
  title,
  creator,
  likes,
  comments,
  ...toSumCells(sums),
})

const toSumCells = ({ views, engagements, ...rest }: ExportedSums = {}) => ({
  views,
  engagements,
  engagementRate: views && engagements !== undefined ? engagements / views : undefined,
  ...rest,
})
