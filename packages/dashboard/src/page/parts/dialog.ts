import { createContext, type ComponentChildren } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { text } from '../texts/texts.ts'

interface DialogProps {
  readonly title: string
  onClose(): void
  readonly children?: ComponentChildren
}

const Unsaved = createContext<{ current: boolean } | undefined>(undefined)

/** With unsaved input, the dialog requires a confirmation to close, and the browser requires one to leave the page. */
export function useUnsaved(isUnsaved: boolean): void {
  const dialog = useContext(Unsaved)
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const confirmLeave = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', confirmLeave)
    if (dialog) dialog.current = true
    return () => {
      removeEventListener('beforeunload', confirmLeave)
      if (dialog) dialog.current = false
    }
  }, [isUnsaved, dialog])
}

/** A modal dialog. Escape, the cross and a click outside close it; unsaved input stays unless it is discarded. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const isUnsaved = useRef(false)
  const isPressedOutside = useRef(false)
  const [isConfirming, setConfirming] = useState(false)
  useLayoutEffect(() => {
    box.current!.showModal()
  }, [])

  const requestClose = () => (isUnsaved.current ? setConfirming(true) : onClose())
  function onCancel(event: Event) {
    event.preventDefault()
    requestClose()
  }
  // If Escape is pressed twice, browsers close the dialog although `cancel` was prevented, but not if the key event was
  // prevented.
  const onKeyDown = (event: KeyboardEvent) => void (event.key === 'Escape' && !event.isComposing && onCancel(event))
  function onClosed() {
    if (isUnsaved.current) box.current?.showModal()
    requestClose()
  }
  // If the pointer was pressed in a field and released outside, the target of the click is the dialog, too. Then the
  // dialog stays open.
  const onPointerDown = ({ target }: Event) => void (isPressedOutside.current = target === box.current)
  const onClick = ({ target }: Event) => void (target === box.current && isPressedOutside.current && requestClose())

  return html`<dialog
    ref=${box}
    class="dialog"
    aria-label=${title}
    onKeyDown=${onKeyDown}
    onCancel=${onCancel}
    onClose=${onClosed}
    onPointerDown=${onPointerDown}
    onClick=${onClick}
  >
    <div class="dialog-body">
      <div class="dialog-head">
        <h2>${title}</h2>
        <button type="button" class="icon" aria-label=${text('dialog.close')} onClick=${requestClose}>✕</button>
      </div>
      <${Unsaved.Provider} value=${isUnsaved}>${children}</${Unsaved.Provider}>
      ${isConfirming && html`<${DiscardPrompt} onContinue=${() => setConfirming(false)} onDiscard=${onClose} />`}
    </div>
  </dialog>`
}

function DiscardPrompt({ onContinue, onDiscard }: { onContinue(): void; onDiscard(): void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current!.focus(), [])
  return html`<div class="discarding" role="alertdialog" aria-label=${text('dialog.unsaved')}>
    <p>${text('dialog.question')}</p>
    <div class="actions">
      <button type="button" class="primary" ref=${button} onClick=${onContinue}>${text('dialog.continue')}</button>
      <button type="button" class="danger" onClick=${onDiscard}>${text('dialog.discard')}</button>
    </div>
  </div>`
}

/** A fault as a sentence, announced by screen readers. */
export function ErrorMessage({ text: fault }: { text: string | undefined }) {
  return fault ? html`<p class="fault" role="alert">${fault}</p>` : null
}
