import { Problem } from '@influencer-stats/runtime/problems'
import { randomUUID } from 'node:crypto'
import { findAmbiguousCost, getEtag, isReversed, type CampaignSource, type Collection } from '../../core/campaign.ts'
import type { CampaignContent } from '../../core/campaign-file/campaign-content.ts'
import type { ImportedCampaign } from '../../core/campaign-file/campaign-draft.ts'
import type { CampaignFile, RefusedRow } from '../../core/campaign-file/read-campaigns.ts'
import type { SourceName } from '../../core/follow/source-name.ts'
import type { LookedUpVideos } from '../../core/paste/preview.ts'
import { errors } from '../../errors.ts'
import type { Posts } from '../../posts/posts.ts'
import type { StateReader } from '../../state/stats-state.ts'
import type { Collections } from '../collections.ts'
import { findChannels, type NamedChannel } from './find-channels.ts'
import { findKnownVideos } from './find-known-videos.ts'
import { toImportedPosts } from './imported-posts.ts'
import { planChange, type PlannedChange } from './import-plan.ts'

/** Why a row is not imported. */
export type ImportRefusal =
  | RefusedRow['reason']
  | 'NOT_A_VIDEO'
  | 'NOT_CHECKED'
  /** YouTube has no channel of this name. */
  | 'CHANNEL_NOT_FOUND'
  /** A channel that the row only names could not be looked up: its id is needed. */
  | 'CHANNEL_WITHOUT_ID'

/** What an import did to a campaign, or would do. */
export interface CampaignResult {
  /** First line of the campaign in the file. */
  readonly line: number
  readonly id: string
  readonly name?: string
  readonly state: PlannedChange['state'] | 'refused'
  readonly videos: number
  readonly added: number
  readonly removed: number
  /** Number of posts that are added or changed. */
  readonly posts: number
  /** Code and detail of a refusal. */
  readonly code?: string
  readonly detail?: string
}

export interface CampaignImportResult extends Omit<CampaignFile, 'campaigns' | 'refused'> {
  readonly campaigns: readonly CampaignResult[]
  readonly refused: readonly { readonly line: number; readonly text: string; readonly reason: ImportRefusal }[]
}

export interface CampaignImportOptions {
  readonly collections: Pick<Collections, 'state' | 'change'>
  readonly posts: Pick<Posts, 'importPosts'>
  lookUpVideos(ids: readonly string[]): Promise<LookedUpVideos>
  findSource(source: SourceName): Promise<CampaignSource | undefined>
  /** Returns the reason why a campaign is not valid. */
  validate(content: CampaignContent): string | undefined
  readonly isDryRun: boolean
}

/**
 * Imports campaigns, one after the other. A campaign with an id is created or replaced. One without an id is added to the
 * campaign of its name, if there is exactly one, and otherwise created. Rows and campaigns that are refused do not stop
 * the others.
 */
export async function importCampaigns(
  file: CampaignFile,
  options: CampaignImportOptions,
): Promise<CampaignImportResult> {
  const { collections, lookUpVideos, findSource } = options
  const doubtful = [...new Set(file.campaigns.flatMap((one) => one.doubtful ?? []))]
  const looked = await findKnownVideos(doubtful, collections.state, lookUpVideos)
  const channels = await findChannels(file.campaigns, findSource)
  const refused: CampaignImportResult['refused'][number][] = [...file.refused]
  const getIdByName = await createNameIndex(file, collections.state)
  const campaigns: CampaignResult[] = []
  for (const campaign of file.campaigns) {
    const { content, refused: refusedItems } = addFound(campaign, looked, channels)
    refused.push(...refusedItems)
    const existingId = content.id ?? (content.name === undefined ? undefined : getIdByName(content.name))
    campaigns.push(await importCampaign(campaign.line, content, existingId, options))
  }
  const { invalid, unknownHeadings } = file
  return { campaigns, refused: refused.sort((a, b) => a.line - b.line), invalid, unknownHeadings }
}

async function importCampaign(
  line: number,
  content: CampaignContent,
  existingId: string | undefined,
  { collections, posts, validate, isDryRun }: CampaignImportOptions,
): Promise<CampaignResult> {
  const id = existingId ?? randomUUID()
  const result = { line, id, ...(content.name !== undefined && { name: content.name }) }
  const refuse = (code: string, detail: string | undefined): CampaignResult => ({
    ...result,
    state: 'refused',
    videos: content.videos.length,
    added: 0,
    removed: 0,
    posts: 0,
    code,
    ...(detail !== undefined && { detail }),
  })
  const invalid = validate({ ...content, id })
  if (invalid) return refuse('VALIDATION_FAILED', invalid)
  const before = await collections.state.get(id)
  const { state: plannedState, fields, added, removed } = planChange(content, before)
  // The sum of the file and of the existing campaign may exceed a limit.
  const exceeded = validate({ ...pickFields(fields), id })
  if (exceeded) return refuse('VALIDATION_FAILED', exceeded)
  if (isReversed(fields)) return refuse(errors.INVALID_DATE_RANGE.code, `from ${fields.from} to ${fields.to}`)
  const ambiguous = findAmbiguousCost(fields)
  if (ambiguous) return refuse(errors.COST_AMBIGUOUS.code, ambiguous)
  const imported = toImportedPosts(content.posts)
  let changedPosts = 0
  try {
    // First without a change: a campaign is imported with its posts, or not at all.
    if (imported.length > 0) changedPosts = await posts.importPosts(id, imported, { isDryRun: true })
    if (!isDryRun && plannedState !== 'unchanged') {
      const condition = before ? { match: [getEtag(before)] } : { noneMatch: '*' as const }
      await collections.change('import', id, fields, condition)
    }
    if (!isDryRun && changedPosts > 0) await posts.importPosts(id, imported, { isDryRun })
  } catch (fault) {
    if (!(fault instanceof Problem)) throw fault
    return refuse(fault.code, fault.detail)
  }
  const state = plannedState === 'unchanged' && changedPosts > 0 ? 'changed' : plannedState
  const name = fields.name === undefined ? {} : { name: fields.name }
  return { ...result, ...name, state, videos: fields.videos.length, added, removed, posts: changedPosts }
}

const pickFields = (fields: PlannedChange['fields'] & Partial<Collection>): CampaignContent => {
  const { id: _id, revision: _revision, created: _created, ...content } = fields
  return content
}

/** Returns a campaign without the videos that YouTube does not know, and with the channels that it knows. */
function addFound(
  { line, content, doubtful, channels = [] }: ImportedCampaign,
  looked: LookedUpVideos,
  namedChannels: ReadonlyMap<string, NamedChannel>,
) {
  const found = new Set(looked.found.map(({ id }) => id))
  const failed = new Set(looked.failed)
  const unknown = new Set(doubtful?.filter((id) => !found.has(id)))
  const refused = [...unknown].map((text): CampaignImportResult['refused'][number] => ({
    line,
    text,
    reason: failed.has(text) ? 'NOT_CHECKED' : 'NOT_A_VIDEO',
  }))
  const sources = [...(content.sources ?? [])]
  for (const { url, contains } of channels) {
    const found = namedChannels.get(url)!
    if (typeof found === 'string') refused.push({ line, text: url, reason: found })
    else if (!sources.some(({ id }) => id === found.id)) sources.push({ ...found, ...(contains && { contains }) })
  }
  const videos = content.videos.filter((id) => !unknown.has(id))
  return { content: { ...content, videos, ...(sources.length > 0 && { sources }) }, refused }
}

const PAGE_SIZE = 500

/** Returns a function that finds the only campaign of a name. All campaigns are read if the file has one without an id. */
async function createNameIndex({ campaigns }: CampaignFile, state: Pick<StateReader, 'list'>) {
  const names = new Set(campaigns.flatMap(({ content: { id, name } }) => (id === undefined && name ? [name] : [])))
  const ids = new Map<string, string | undefined>()
  if (names.size > 0)
    for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id)
      for (const { id, name } of page)
        if (name !== undefined && names.has(name)) ids.set(name, ids.has(name) ? undefined : id)
  return (name: string) => ids.get(name)
}
