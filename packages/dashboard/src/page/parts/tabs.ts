import { html } from '../html.ts'

interface TabsProps {
  readonly label: string
  /** Value and title. */
  readonly options: readonly (readonly [string, string])[]
  readonly value: string
  onChange(value: string): void
}

/** A choice of one option. */
export function Tabs({ label, options, value, onChange }: TabsProps) {
  return html`<div class="tabs" role="group" aria-label=${label}>
    ${options.map(([option, title]) => html`<button key=${option} type="button" aria-pressed=${option === value} onClick=${() => onChange(option)}>${title}</button>`)}
  </div>`
}
