import { useRef } from 'preact/hooks'
import { html, onText } from '../html.ts'

/** Delay after the last key press before the list is filtered (ms). */
const TYPING_DELAY_MS = 250

interface SearchFieldProps {
  readonly q: string
  readonly label: string
  readonly placeholder: string
  onChange(q: string): void
}

/** A field that filters a list while the user types. */
export function SearchField({ q, label, placeholder, onChange }: SearchFieldProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const onInput = onText((typed) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(typed), TYPING_DELAY_MS)
  })
  return html`<input
    type="search"
    class="search"
    aria-label=${label}
    placeholder=${placeholder}
    maxlength="200"
    value=${q}
    onInput=${onInput}
  />`
}
