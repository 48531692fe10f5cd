import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'

interface DialogProps {
  readonly title: string
  onClose(): void
  readonly children?: ComponentChildren
}

/** Something to be done before all else; Escape leaves it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    box.current!.showModal()
  }, [])
  return html`<dialog
    ref=${box}
    class="dialog"
    aria-label=${title}
    onClose=${onClose}
    onClick=${(event: Event) => event.target === box.current && onClose()}
  >
    <div class="dialog-body">
      <div class="dialog-head">
        <h2>${title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick=${onClose}>✕</button>
      </div>
      ${children}
    </div>
  </dialog>`
}

/** What went wrong, said aloud. */
export function Fault({ text }: { text: string | undefined }) {
  return text ? html`<p class="fault" role="alert">${text}</p>` : null
}
