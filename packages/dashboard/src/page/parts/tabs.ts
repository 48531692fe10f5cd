import { TIME_RANGES, timeRangeNames } from '../core/time-ranges.ts'
import { html } from '../html.ts'
import { text } from '../texts/texts.ts'

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

const RANGE_OPTIONS = timeRangeNames.map((range) => [range, TIME_RANGES[range].title])

/** A choice of the time range of a screen. */
export const RangeTabs = ({ value, onChange }: Pick<TabsProps, 'value' | 'onChange'>) =>
  html`<${Tabs} label=${text('range.label')} options=${RANGE_OPTIONS} value=${value} onChange=${onChange} />`
