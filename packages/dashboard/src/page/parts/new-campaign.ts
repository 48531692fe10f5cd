import { addPost, stats } from '../api.ts'
import { createId } from '../core/campaign-input.ts'
import { useChange } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { go } from '../router.ts'
import { text } from '../texts/texts.ts'
import { ErrorMessage, useUnsaved } from './dialog.ts'
import { PastePreview, usePastePreview } from './paste-preview.ts'

const ID_LENGTH = 16

/** The input of a campaign that is not created yet. */
export interface CampaignDraft {
  readonly links: string
  readonly name: string
}

export const EMPTY_DRAFT: CampaignDraft = { links: '', name: '' }

export const isEmptyDraft = ({ links, name }: CampaignDraft) => links === '' && name === ''

interface NewCampaignProps {
  readonly draft: CampaignDraft
  setDraft(draft: CampaignDraft): void
}

/** Creates a campaign from pasted links in one step, and opens it. */
export function NewCampaign({ draft, setDraft }: NewCampaignProps) {
  const change = useChange()
  const { preview, isCurrent, videos: found, posts, fault } = usePastePreview(draft.links)
  const isEmpty = found.length + posts.length === 0
  useUnsaved(!isEmptyDraft(draft))

  async function submit(event: Event) {
    event.preventDefault()
    if (!isCurrent || isEmpty) return
    const id = createId(crypto.getRandomValues(new Uint8Array(ID_LENGTH)))
    const name = draft.name.trim()
    const isCreated = await change.run(async () => {
      await stats.put(id, { videos: found, ...(name && { name }) })
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
    <${PastePreview} preview=${preview} fault=${fault} />
    <${ErrorMessage} text=${change.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy || !isCurrent || isEmpty}>${text('new.start')}</button>
      <span class="quiet" role="status"
        >${[
          ...(found.length > 0 ? [text('videos.count', { count: found.length })] : []),
          ...(posts.length > 0 ? [text('posts.count', { count: posts.length })] : []),
        ].join(', ')}</span
      >
    </div>
  </form>`
}
