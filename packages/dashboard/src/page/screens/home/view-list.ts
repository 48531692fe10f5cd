import { useState } from 'preact/hooks'
import { listViews, removeView, saveView, type SavedView } from '../../api.ts'
import { toViewContent, writeHomeQuery, readView, type HomeQuery, type ViewContent } from '../../core/home-query.ts'
import { reportDone } from '../../done-changes.ts'
import { useChange, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { Dialog, ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { text } from '../../texts/texts.ts'

/** Scrolls the line of views to a view. */
const showWhole = (link: HTMLElement | null) => {
  const line = link?.closest('ul')
  if (link && line) line.scrollLeft = link.offsetLeft - line.offsetLeft
}

/** The saved views of the list: an order and filters with a name, which all users share. */
export function ViewList({ query, canChange }: { query: HomeQuery; canChange: boolean }) {
  const { value, fault, reload } = useLoaded(listViews, [])
  const views = value ?? []
  const change = useChange()
  const [isSaving, setSaving] = useState(false)
  const address = writeHomeQuery(query)
  const current = views.find((view) => writeHomeQuery(readView(view)) === address)
  async function remove({ id, ...content }: SavedView) {
    if (!(await change.run(() => removeView(id)))) return
    reload()
    reportDone(text('views.removed', { name: content.name }), async () => {
      await saveView(content)
      reload()
    })
  }
  const canSave = canChange && value && !current && address !== ''
  const problem = fault ?? change.fault
  if (views.length === 0 && !canSave && !problem) return null
  return html`<div class="views">
    ${
      views.length > 0 &&
      html`<ul aria-label=${text('views.label')}>
        ${views.map(
          (view) =>
            html`<li key=${view.id}>
              <a
                class="tag"
                href=${`/${writeHomeQuery(readView(view))}`}
                aria-current=${view === current ? 'page' : undefined}
                ref=${view === current ? showWhole : undefined}
                ><bdi>${view.name}</bdi></a
              >
            </li>`,
        )}
      </ul>`
    }
    ${canSave && html`<button class="link" onClick=${() => setSaving(true)}>${text('views.save')}</button>`}
    ${canChange && current && html`<button class="link" disabled=${change.isBusy} onClick=${() => remove(current)}>${text('views.remove')}</button>`}
    <${ErrorMessage} text=${problem} />
    ${
      isSaving &&
      html`<${Dialog} title=${text('views.saveTitle')} onClose=${() => setSaving(false)}>
        <${ViewForm} query=${query} onSaved=${() => (setSaving(false), reload())} />
      </${Dialog}>`
    }
  </div>`
}

function ViewForm({ query, onSaved }: { query: HomeQuery; onSaved(): void }) {
  const [name, setName] = useState('')
  const change = useChange()
  useUnsaved(name !== '')
  async function submit(event: Event) {
    event.preventDefault()
    const content: ViewContent = { name: name.trim(), ...toViewContent(query) }
    if (content.name && (await change.run(() => saveView(content)))) onSaved()
  }
  return html`<form class="form" onSubmit=${submit}>
    <label
      >${text('form.name')}
      <input name="name" required maxlength="60" autofocus value=${name} onInput=${onText(setName)}
    /></label>
    <p class="quiet">${text('views.note')}</p>
    <${ErrorMessage} text=${change.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy || name.trim() === ''}>${text('form.save')}</button>
    </div>
  </form>`
}
