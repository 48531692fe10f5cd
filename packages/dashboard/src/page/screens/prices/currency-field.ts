import type { PriceQuery } from '../../core/prices/price-query.ts'
import { useLast, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { requestFacets, type FacetsReply } from './read-facets.ts'

interface CurrencyFieldProps {
  readonly query: PriceQuery
  readonly today: string
  /** The currencies of the prices that match. */
  readonly ranges: FacetsReply['range']
  onChange(currency: string): void
}

/** A condition on the currency, if prices of several currencies match the other conditions. */
export function CurrencyField({ query, today, ranges = [], onChange }: CurrencyFieldProps) {
  const { currency } = query
  const others = { ...query, currency: '' }
  const read = async () =>
    currency ? (await requestFacets(others, today, { facet: 'specs', limit: '1', range: 'true' })).range : undefined
  const alternatives = useLast(useLoaded(read, [currency && JSON.stringify([others, today])]).value)
  const listed = (currency ? alternatives : ranges) ?? []
  if (!currency && listed.length < 2) return null
  const isListed = listed.some((one) => one.currency === currency)
  return html`<label
    ><span>Currency</span>
    <select onChange=${onText(onChange)}>
      <option value="" selected=${!currency}>Any</option>
      ${currency && !isListed && html`<option value=${currency} selected>${currency} (0)</option>`}
      ${listed.map(({ currency: one, count }) => html`<option key=${one} value=${one} selected=${one === currency}>${one} (${formats.count(count)})</option>`)}
    </select>
  </label>`
}
