import { hash } from 'node:crypto'
import type { CampaignSource, Collection } from '../campaign.ts'
import { DAY_MS } from '../quota-budget.ts'

/** Video of a playlist, as far as rules read it. */
export interface Upload {
  readonly id: string
  readonly title?: string
  readonly description?: string
  /** ISO 8601. Absent if the video was removed or is private. */
  readonly publishedAt?: string
}

/** Fields of a campaign from which its rules follow. */
export type FollowingCampaign = Pick<Collection, 'id' | 'revision' | 'created' | 'from' | 'to' | 'sources' | 'archived'>

/** Time in which a source adds uploads (ms since 1970). `to` is exclusive; `Infinity` without a last day. */
export interface FollowedPeriod {
  readonly from: number
  readonly to: number
}

/**
 * Returns the period of a campaign: its first and its last day, in UTC. Without a first day, the period begins with the
 * creation of the campaign, so that a source does not add all uploads of a channel.
 */
export function getFollowedPeriod({ from, to, created, revision }: FollowingCampaign): FollowedPeriod {
  return {
    from: from === undefined ? Math.floor((created ?? revision) / 1_000) : Date.parse(from),
    to: to === undefined ? Infinity : Date.parse(to) + DAY_MS,
  }
}

/** Time after the end of a period in which its uploads are still read (ms): calls may have failed at the end. */
const GRACE_MS = DAY_MS

/** Returns the sources that a campaign follows at a time: none outside of its period, and none in the archive. */
export function getActiveSources(campaign: FollowingCampaign, now: number): readonly CampaignSource[] {
  const { sources, archived } = campaign
  if (!sources || archived) return []
  const { from, to } = getFollowedPeriod(campaign)
  return from <= now && now < to + GRACE_MS ? sources : []
}

/**
 * Returns the playlist of a source. The id of the uploads of a channel is that of the channel with `UU`: this takes no
 * call, and YouTube states no other in `relatedPlaylists.uploads`.
 */
export const getPlaylistId = ({ type, id }: CampaignSource): string =>
  type === 'channel' && id.startsWith('UC') ? `UU${id.slice(2)}` : id

/** True for the uploads of a channel, which are sorted, newest first. */
export const isUploadsList = (playlist: string): boolean => playlist.startsWith('UU')

/**
 * Returns the uploads that a source of a playlist adds to a campaign: the id of the source, by the id of the upload. Of
 * several sources that match, the first one counts.
 */
export function selectUploads(
  campaign: FollowingCampaign,
  playlist: string,
  uploads: readonly Upload[],
): Record<string, string> {
  const { from, to } = getFollowedPeriod(campaign)
  const sources = (campaign.sources ?? []).filter((source) => getPlaylistId(source) === playlist)
  const selected: Record<string, string> = {}
  for (const upload of uploads) {
    const at = upload.publishedAt === undefined ? Number.NaN : Date.parse(upload.publishedAt)
    if (!(at >= from && at < to)) continue
    const source = sources.find(({ contains }) => matches(upload, contains))
    if (source) selected[upload.id] = source.id
  }
  return selected
}

function matches({ title = '', description = '' }: Upload, contains: readonly string[] = []): boolean {
  if (contains.length === 0) return true
  const text = normalize(`${title}\n${description}`)
  return contains.some((word) => containsWord(text, normalize(word)))
}

const normalize = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()

const WORD_CHARACTER = /^[\p{L}\p{N}\p{M}_]$/u
/** Scripts that write no spaces between words: there, a word is any part of a text. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u

/** True if a text contains a word, a phrase or a `#tag` as a whole: `#ad` is no part of `#adidas`. */
function containsWord(text: string, word: string): boolean {
  if (word === '') return false
  const characters = [...word]
  const [first, last] = [characters[0]!, characters.at(-1)!]
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1)
    const after = Array.from(text.slice(at + word.length, at + word.length + 2))[0]
    if (!isJoined(before, first) && !isJoined(after, last)) return true
  }
  return false
}

/** True if a character continues the word whose edge is `edge`. */
const isJoined = (neighbour: string | undefined, edge: string): boolean =>
  neighbour !== undefined &&
  WORD_CHARACTER.test(neighbour) &&
  !UNSPACED.test(edge) &&
  (edge === '#' || WORD_CHARACTER.test(edge))

/**
 * Returns a text that changes with the rules of a playlist: then its known page must be read once more, because a page
 * that has not changed may contain uploads for a new rule.
 */
export function hashRules(campaigns: readonly FollowingCampaign[], playlist: string): string {
  const rules = campaigns.map(({ id, created, from, to, sources = [] }) => [
    id,
    created,
    from,
    to,
    sources.filter((source) => getPlaylistId(source) === playlist).map((source) => [source.id, source.contains]),
  ])
  return hash('sha1', JSON.stringify(rules), 'base64url')
}
