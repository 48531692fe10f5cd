import type { CampaignSource } from '../campaign.ts'
import type { VideoDetails } from '../video-details.ts'
import type { ContentLink, PasteRefusal } from './content-link.ts'
import type { AcceptedItem, PasteItem } from './paste-item.ts'
import type { Paste } from './read-paste.ts'
import type { RowValues } from './row-values.ts'

/** Result of looking up ids that only YouTube knows. */
export interface LookedUpVideos {
  readonly found: readonly VideoDetails[]
  /** Ids that could not be looked up. */
  readonly failed: readonly string[]
}

/** Why an item is not certain, or is refused. */
export type PreviewReason =
  | PasteRefusal
  /** A bare word of 11 characters that is not the id of a video. */
  | 'NOT_A_VIDEO'
  /** A bare word of 11 characters that could not be looked up. */
  | 'NOT_CHECKED'

/** The values of a row of a sheet that belong to its item. */
export type PreviewValues = Pick<RowValues, 'creator' | 'fee' | 'currency' | 'published'>

interface PreviewPosition {
  /** Line of the pasted text, from 1. */
  readonly line: number
  /** The pasted text, at most 200 characters. */
  readonly text: string
  readonly values?: PreviewValues
}

interface PreviewState {
  /**
   * `new`: can be added. `member`: the campaign contains it. `duplicate`: an earlier line names it. `unknown`: a bare
   * word that could not be looked up. `refused`: not a video, channel, playlist or post.
   */
  readonly state: 'new' | 'member' | 'duplicate' | 'unknown' | 'refused'
  readonly reason?: PreviewReason
  /** Line of the first item for the same content. Present for duplicates. */
  readonly firstLine?: number
  /** Title and channel of a video, as far as they are known. */
  readonly title?: string
  readonly channel?: string
}

export type PreviewItem = PreviewPosition & PreviewState & Partial<Omit<ContentLink, 'isShortLink'>>

/** The content of a campaign that a preview compares. */
interface PreviewedCampaign {
  readonly videos: readonly string[]
  readonly sources?: readonly CampaignSource[]
  /** Its posts of other platforms. */
  readonly posts?: readonly { readonly url: string }[]
}

const VALUE_NAMES = ['creator', 'fee', 'currency', 'published'] as const satisfies readonly (keyof PreviewValues)[]

/** Returns the items of a paste as a person decides on them. */
export function toPreview({ items }: Paste, looked: LookedUpVideos, campaign?: PreviewedCampaign): PreviewItem[] {
  const found = new Map(looked.found.map((details) => [details.id, details]))
  const failed = new Set(looked.failed)
  const videos = new Set(campaign?.videos)
  const sources = new Set(campaign?.sources?.map(({ id }) => id))
  const posts = new Set(campaign?.posts?.map(({ url }) => url))

  function toState(item: AcceptedItem): PreviewState {
    const { state, type, id, url, firstLine } = item
    if (state === 'duplicate') return { state, ...(firstLine !== undefined && { firstLine }) }
    const isMember =
      type === 'post' ? posts.has(url) : id !== undefined && (type === 'video' ? videos : sources).has(id)
    const details = type === 'video' ? found.get(id) : undefined
    const titles = {
      ...(details?.title !== undefined && { title: details.title }),
      ...(details?.channel !== undefined && { channel: details.channel }),
    }
    if (isMember) return { state: 'member', ...titles }
    if (state === 'new' || details) return { state: 'new', ...titles }
    return failed.has(id!) ? { state: 'unknown', reason: 'NOT_CHECKED' } : { state: 'refused', reason: 'NOT_A_VIDEO' }
  }

  // A duplicate of a word that is not a video is not one either.
  const refusals = new Map<string, PreviewState>()
  return items.map((item): PreviewItem => {
    const position = toPosition(item)
    if (item.state === 'refused') return { ...position, state: 'refused', reason: item.reason }
    const { state: _state, isWord: _isWord, line: _line, text: _text, row: _row, firstLine: _first, ...link } = item
    const key = `${link.type}/${link.id}`
    const state = (item.state === 'duplicate' && refusals.get(key)) || toState(item)
    if (state.reason) refusals.set(key, state)
    return state.state === 'refused' ? { ...position, ...state } : { ...position, ...toPreviewLink(link), ...state }
  })
}

function toPreviewLink({ isShortLink: _isShortLink, ...link }: ContentLink & { readonly isShortLink?: true }) {
  return link
}

function toPosition({ line, text, row }: PasteItem): PreviewPosition {
  const values = VALUE_NAMES.flatMap((name) => (row?.[name] === undefined ? [] : [[name, row[name]]]))
  return { line, text, ...(values.length > 0 && { values: Object.fromEntries(values) as PreviewValues }) }
}
