import type { PreviewItem } from '@influencer-stats/stats/client'
import { addPost, stats } from '../api.ts'
import { createId } from '../core/campaign-input.ts'
import { useChange } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { go } from '../router.ts'
import { text } from '../texts/texts.ts'
import { ErrorMessage, useUnsaved } from './dialog.ts'
import { PastePreview, toSourceName, usePastePreview } from './paste-preview.ts'

const ID_LENGTH = 16

/** The input of a campaign that is not created yet. */
export interface CampaignDraft {
  readonly links: string
  readonly name: string
  /** Channels and playlists of the links to follow: see `toSourceName`. */
  readonly followed: readonly string[]
}

export const EMPTY_DRAFT: CampaignDraft = { links: '', name: '', followed: [] }

export const isEmptyDraft = ({ links, name }: CampaignDraft) => links === '' && name === ''

interface NewCampaignProps {
  readonly draft: CampaignDraft
  setDraft(draft: CampaignDraft): void
}

/** Creates a campaign from pasted links in one step, and opens it. */
export function NewCampaign({ draft, setDraft }: NewCampaignProps) {
  const change = useChange()
  const { preview, isCurrent, videos: found, posts, fault } = usePastePreview(draft.links)
  const followed = new Set(draft.followed)
  // A link that was removed from the text is not followed.
  const sources = preview.items
    .map(toSourceName)
    .filter((name, i, all) => followed.has(name) && all.indexOf(name) === i)
  const isReady = isCurrent && found.length + posts.length + sources.length > 0
  useUnsaved(!isEmptyDraft(draft))

  function toggleFollow(item: PreviewItem) {
    const name = toSourceName(item)
    setDraft({ ...draft, followed: [...followed.symmetricDifference(new Set([name]))] })
  }

  async function submit(event: Event) {
    event.preventDefault()
    if (!isReady) return
    const id = createId(crypto.getRandomValues(new Uint8Array(ID_LENGTH)))
    const name = draft.name.trim()
    const content = {
      videos: found,
      ...(name && { name }),
      ...(sources.length > 0 && { sources: sources.map((source) => ({ id: source })) }),
    }
    const isCreated = await change.run(async () => {
      await stats.put(id, content)
      for (const post of posts) await addPost(id, post)
    })
    if (!isCreated) return
    setDraft(EMPTY_DRAFT)
    go(`/campaigns/${id}`)
  }

  return html`<form class="form" onSubmit=${submit}>
    <label
      >${text('new.links')}
      <textarea
        name="links"
        rows="5"
        required
        autofocus
        placeholder=${'https://youtu.be/-4lB5EKS5Uk\nhttps://www.youtube.com/watch?v=…'}
        value=${draft.links}
        onInput=${onText((links) => setDraft({ ...draft, links }))}
      ></textarea>
    </label>
    <label
      ><span>${text('new.name')} <span class="quiet">${text('new.nameLater')}</span></span>
      <input name="name" value=${draft.name} onInput=${onText((name) => setDraft({ ...draft, name }))} />
    </label>
    <${PastePreview} preview=${preview} fault=${fault} follow=${toggleFollow} followed=${followed} />
    <${ErrorMessage} text=${change.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy || !isReady}>${text('new.start')}</button>
      <span class="quiet" role="status"
        >${[
          ...(found.length > 0 ? [text('videos.count', { count: found.length })] : []),
          ...(posts.length > 0 ? [text('posts.count', { count: posts.length })] : []),
          ...(sources.length > 0 ? [text('sources.count', { count: sources.length })] : []),
        ].join(', ')}</span
      >
    </div>
  </form>`
}
