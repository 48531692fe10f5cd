import { html, onText } from '../../html.ts'
import { text } from '../../texts/texts.ts'
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
    ><span>${text('price.currency')}</span>
    <select onChange=${onText(onChange)}>
      <option value="" selected=${!currency}>${text('find.any')}</option>
      ${currency && !isListed && html`<option value=${currency} selected>${text('find.withCount', { value: currency, count: 0 })}</option>`}
      ${ranges.map(({ currency: one, count }) => html`<option key=${one} value=${one} selected=${one === currency}>${text('find.withCount', { value: one, count })}</option>`)}
    </select>
  </label>`
}
