import { useState } from 'preact/hooks'
import { stats } from '../api.ts'
import { linksIn, newId } from '../core/pasted.ts'
import { useChange } from '../hooks.ts'
import { html } from '../html.ts'
import { go } from '../router.ts'
import { Fault } from './dialog.ts'

const ID_LENGTH = 16

/** Makes a campaign of pasted links, in one step, and goes there. */
export function NewCampaign() {
  const [links, setLinks] = useState('')
  const [name, setName] = useState('')
  const change = useChange()
  const found = linksIn(links)

  async function submit(event: Event) {
    event.preventDefault()
    if (found.length === 0) return
    const id = newId(crypto.getRandomValues(new Uint8Array(ID_LENGTH)))
    const title = name.trim()
    if (await change.run(() => stats.put(id, { videos: found, ...(title && { name: title }) }))) go(`/campaigns/${id}`)
  }

  return html`<form class="form" onSubmit=${submit}>
    <label
      >YouTube links
      <textarea
        name="links"
        rows="5"
        required
        autofocus
        placeholder=${'https://youtu.be/-4lB5EKS5Uk\nhttps://www.youtube.com/watch?v=…'}
        value=${links}
        onInput=${(event: InputEvent) => setLinks((event.target as HTMLTextAreaElement).value)}
      ></textarea>
    </label>
    <label
      ><span>Name <span class="quiet">(may be given later)</span></span>
      <input
        name="name"
        maxlength="200"
        value=${name}
        onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
      />
    </label>
    <${Fault} text=${change.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy || found.length === 0}>Start campaign</button>
      <span class="quiet" role="status"
        >${found.length > 0 ? `${found.length} ${found.length === 1 ? 'video' : 'videos'}` : ''}</span
      >
    </div>
  </form>`
}
