import { useState } from 'preact/hooks'
import { listConditions, removeCondition, setCondition } from '../core/prices/conditions.ts'
import { readPriceQuery, toConditions, writePriceQuery, type PriceQuery } from '../core/prices/price-query.ts'
import { useLast, useLoaded, useTitle, useToday } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { useRefresh } from '../use-refresh.ts'
import { go, type PageLocation } from '../router.ts'
import { text } from '../texts/texts.ts'
import { ConditionFields, type FocusedCondition } from './prices/condition-fields.ts'
import { FindField, type FoundName } from './prices/find-field.ts'
import { ResultView } from './prices/price-result.ts'
import { LIST_KEYS, LISTS, readFacets, readRanges, type AmountRange, type FacetsReply } from './prices/read-facets.ts'
import { readResult } from './prices/read-result.ts'

/** Number of values of each list that are read before the list opens. */
const MAX_VALUES = '12'

/** A field that has the focus covers half of a phone with its keyboard. */
const hasKeyboard = matchMedia('(hover: hover)').matches

/** Completes a selection with the offering, group and spec that all its prices have. */
function addOnlyNames(query: PriceQuery, facets: FacetsReply): PriceQuery {
  const names = LIST_KEYS.map((key) => {
    const { values, next } = facets[LISTS[key]]
    return [key, query[key] || (values.length === 1 && next === undefined ? values[0]!.value : '')]
  })
  return { ...query, ...Object.fromEntries(names) }
}

/** Finds one price: each choice narrows the prices that match. */
export function Prices({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle(text('frame.prices'))
  const today = useToday()
  const query = readPriceQuery(pageLocation.search)
  const conditions = JSON.stringify(toConditions(query, today))
  const [focused, setFocused] = useState<FocusedCondition>()
  const facets = useLoaded(() => readFacets(query, today, { limit: MAX_VALUES }), [conditions])
  // The old lists and currencies remain, without counts, while those of the new conditions are read.
  const last = useLast(facets.value)
  const missing = listConditions(query, today).filter(({ key, value }) =>
    last?.missing.some((one) => one.key === key && one.value === value),
  )
  const valid = missing.reduce((rest, { key }) => removeCondition(rest, key), query)
  const count = facets.value?.facets.count
  const searched = facets.value && addOnlyNames(valid, facets.value.facets)
  const result = useLoaded(
    async () => (searched && missing.length === 0 ? readResult(searched, count!, today) : undefined),
    [searched && JSON.stringify([toConditions(searched, today), searched.price, count])],
  )
  const ranges = useLoaded(
    async () => (facets.value ? readRanges(valid, today) : undefined),
    [facets.value && JSON.stringify(toConditions({ ...valid, currency: '' }, today))],
  )
  useRefresh(facets.reload)
  useRefresh(ranges.reload)
  useRefresh(result.reload)

  const lastRanges = useLast(ranges.value) ?? []

  const show = (next: PriceQuery) => go(`${pageLocation.path}${writePriceQuery(next)}`, { replace: true })
  /** The choice among several prices ends with a change of the conditions. */
  const change = (part: Partial<PriceQuery>) => show({ ...query, price: '', ...part })
  function chooseFound({ key, value, startsOver }: FoundName) {
    const base = startsOver ? readPriceQuery('') : valid
    if (value !== undefined) return show({ ...setCondition(base, { key, value }), price: '' })
    if (startsOver) show(base)
    setFocused({ key })
  }

  return html`<div class="head">
      <h1>${text('frame.prices')}</h1>
      <div class="tools">
        ${pageLocation.search && html`<button onClick=${() => go(pageLocation.path)}>${text('find.startOver')}</button>`}
      </div>
    </div>
    <${FindField}
      hasFocus=${!pageLocation.search && hasKeyboard}
      query=${valid}
      today=${today}
      onChoose=${chooseFound}
    />
    <${ErrorMessage} text=${facets.fault} />
    ${
      last &&
      html`<div class="split">
        <${ConditionFields}
          query=${query}
          valid=${valid}
          today=${today}
          facets=${last.facets}
          ranges=${lastRanges}
          missing=${missing}
          focused=${focused}
          change=${change}
        />
        <section class="panel result" aria-label=${text('find.result')}>
          ${
            missing.length === 0 &&
            html`<p class="quiet" role="status">
              ${count === undefined ? '…' : text('find.matches', { count })}
              ${count !== undefined && count > 1 && html`<${Amounts} ranges=${ranges.value} currency=${query.currency} />`}
            </p>`
          }
          ${
            missing.length > 0
              ? html`<p class="quiet none">${text('find.chooseOthers')}</p>`
              : result.fault
                ? html`<${ErrorMessage} text=${result.fault} />`
                : result.value
                  ? html`<${ResultView}
                      result=${result.value}
                      query=${valid}
                      conditions=${listConditions(searched!, today)}
                      count=${count!}
                      today=${today}
                      show=${show}
                    />`
                  : result.isLoading
                    ? html`<p class="quiet" role="status">${text('frame.loading')}</p>`
                    : html`<p class="quiet none">${text('find.chooseMore')}</p>`
          }
        </section>
      </div>`
    }`
}

/** The lowest and the highest of the amounts, in each currency. */
function Amounts({ ranges = [], currency }: { ranges: readonly AmountRange[] | undefined; currency: string }) {
  return html`<span class="amounts">
    ${ranges
      .filter((one) => !currency || one.currency === currency)
      .map((one) => {
        const [low, high] = [one.min, one.max].map((amount) => formats.amount(amount, one.currency))
        return html`<span key=${one.currency}>${low === high ? low : `${low} – ${high}`}</span>`
      })}
  </span>`
}
