import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { PastePreview as Preview, PreviewItem } from '@influencer-stats/stats/client'
import { useEffect, useState } from 'preact/hooks'
import { stats } from '../api.ts'
import { useLast, useLoaded } from '../hooks.ts'
import { html } from '../html.ts'
import { findText, text } from '../texts/texts.ts'
import { ErrorMessage } from './dialog.ts'

/** Delay after the last key press before a text is previewed (ms). */
const TYPING_DELAY_MS = 250
/** Maximum number of rows that are shown. */
const MAX_SHOWN = 1_000
const EMPTY_PREVIEW: Preview = { items: [], unknownHeadings: [] }

export interface PasteState {
  /** The preview of the text, or of an earlier one while that of this one is read. */
  readonly preview: Preview
  /** True if the preview is that of the text. */
  readonly isCurrent: boolean
  /** Ids of the videos that can be added. */
  readonly videos: readonly string[]
  /** Posts of other platforms that can be added. */
  readonly posts: readonly PreviewItem[]
  readonly fault: string | undefined
}

/**
 * Reads what a text contains, a moment after the last key press.
 * @param campaign the campaign to which it will be added, and a value that changes with its content
 */
export function usePastePreview(
  pasted: string,
  campaign?: { readonly id: string; readonly version: string },
): PasteState {
  const [settled, setSettled] = useState(pasted)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(pasted), TYPING_DELAY_MS)
    return () => clearTimeout(timer)
  }, [pasted])
  const id = campaign?.id
  const { value, fault } = useLoaded(() => readPreview(settled, id), [settled, id], [campaign?.version])
  const preview = useLast(value) ?? EMPTY_PREVIEW
  const isCurrent = value !== undefined && settled === pasted
  return { preview, isCurrent, videos: listVideos(preview), posts: preview.items.filter(isNewPost), fault }
}

async function readPreview(pasted: string, id: string | undefined): Promise<Preview> {
  if (pasted.trim() === '') return EMPTY_PREVIEW
  const preview = id === undefined ? await stats.previewPaste(pasted) : await stats.previewPasteFor(id, pasted)
  if (!preview) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
  return preview
}

const listVideos = ({ items }: Preview): string[] =>
  items.flatMap(({ state, type, id }) => (state === 'new' && type === 'video' && id !== undefined ? [id] : []))

const isNewPost = ({ state, type }: PreviewItem): boolean => state === 'new' && type === 'post'

/** True if a campaign can follow an item. */
const isFollowable = ({ state, type }: PreviewItem): boolean =>
  state === 'new' && (type === 'channel' || type === 'playlist')

/** Returns what the service looks up to follow an item. A channel that is only named has no id. */
export const toSourceName = ({ id, url, text: line }: PreviewItem): string => id ?? url ?? line

const isRefused = ({ state }: PreviewItem): boolean => state === 'refused' || state === 'unknown'

interface FollowProps {
  /** Follows a channel or a playlist, or no longer follows it. */
  readonly follow?: (item: PreviewItem) => void
  /** Names of the sources that are followed, or will be: see `toSourceName`. */
  readonly followed?: ReadonlySet<string>
}

type PastePreviewProps = Pick<PasteState, 'preview' | 'fault'> & FollowProps

/** Shows each item of a pasted text in a row: accepted, or with the reason why it is not. */
export function PastePreview({ preview, fault, ...following }: PastePreviewProps) {
  const { unknownHeadings } = preview
  const refused = preview.items.filter(isRefused)
  // A person has to see what is not accepted, even among a thousand videos.
  const items = [...refused, ...preview.items.filter((item) => !isRefused(item))]
  const more = items.length - MAX_SHOWN
  return html`<${ErrorMessage} text=${fault} />
    ${refused.length > 0 && html`<p class="quiet" role="status">${text('preview.refused', { count: refused.length })}</p>`}
    ${
      items.length > 0 &&
      html`<div class="preview" role="region" aria-label=${text('preview.title')} tabindex="0">
        <table>
          <thead class="hidden">
            <tr>
              <th scope="col">${text('preview.line')}</th>
              <th scope="col">${text('preview.content')}</th>
              <th scope="col">${text('preview.result')}</th>
            </tr>
          </thead>
          <tbody>
            ${items.slice(0, MAX_SHOWN).map((item, i) => html`<${PreviewRow} key=${i} item=${item} ...${following} />`)}
          </tbody>
        </table>
      </div>`
    }
    ${more > 0 && html`<p class="quiet">${text('preview.more', { count: more })}</p>`}
    ${unknownHeadings.length > 0 && html`<p class="quiet">${text('preview.headings', { names: unknownHeadings.join(', ') })}</p>`}`
}

function PreviewRow({ item, follow, followed }: { item: PreviewItem } & FollowProps) {
  const { line, state, url, title, channel, values } = item
  const details = [channel ?? values?.creator, title === undefined || !url ? undefined : toShortUrl(url)]
    .filter(Boolean)
    .join(' · ')
  const isFollowed = followed?.has(toSourceName(item)) === true
  return html`<tr class=${`is-${state}`} data-state=${state}>
    <td class="number quiet">${line}</td>
    <td>
      <bdi>${title ?? (url && toShortUrl(url)) ?? item.text}</bdi>
      ${details && html`<span class="quiet below"><bdi>${details}</bdi></span>`}
    </td>
    <td>
      ${isFollowed ? text('preview.followed') : describeItem(item)}
      ${
        follow &&
        isFollowable(item) &&
        html` <button
          type="button"
          aria-label=${text(isFollowed ? 'preview.unfollowOne' : 'preview.followOne', { name: url ?? item.text })}
          onClick=${() => follow(item)}
        >
          ${text(isFollowed ? 'preview.unfollow' : 'preview.follow')}
        </button>`
      }
    </td>
  </tr>`
}

const toShortUrl = (url: string): string => url.replace(/^https:\/\/(?:www\.)?/, '')

/** Returns what will become of an item. */
function describeItem({ state, reason, type, firstLine, platform }: PreviewItem): string {
  if (reason) return findText(`refusal.${reason}`) ?? reason
  if (state === 'member') return text('preview.member')
  if (state === 'duplicate') return text('preview.duplicate', { line: firstLine ?? 0 })
  if (type === 'post') return text('preview.post', { platform: findText(`platform.${platform}`) ?? '' })
  return findText(`preview.${type}`) ?? ''
}
