import { html, onText } from '../../html.ts'
import { formats } from '../../page-state.ts'
import type { AmountRange } from './read-facets.ts'

interface CurrencyFieldProps {
  readonly currency: string
  /** The amounts of the prices that match all other conditions. */
  readonly ranges: readonly AmountRange[]
  onChange(currency: string): void
}

/** A condition on the currency, if prices of several currencies match the other conditions. */
export function CurrencyField({ currency, ranges, onChange }: CurrencyFieldProps) {
  if (!currency && ranges.length < 2) return null
  const isListed = ranges.some((one) => one.currency === currency)
  return html`<label
    ><span>Currency</span>
    <select onChange=${onText(onChange)}>
      <option value="" selected=${!currency}>Any</option>
      ${currency && !isListed && html`<option value=${currency} selected>${currency} (0)</option>`}
      ${ranges.map(({ currency: one, count }) => html`<option key=${one} value=${one} selected=${one === currency}>${one} (${formats.count(count)})</option>`)}
    </select>
  </label>`
}
