import { requestPrices } from '../api.ts'
import type { ExactNumber } from '../core/prices/exact-json.ts'
import { getSentence } from '../core/error-sentences.ts'
import {
  toFacetsQuery,
  readPriceQuery,
  toSearch,
  writePriceQuery,
  type PriceQuery,
} from '../core/prices/price-query.ts'
import { useLast, useLoaded, useTitle } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { Bar } from '../parts/cards.ts'
import { useRefresh } from '../use-refresh.ts'
import { go, type PageLocation } from '../router.ts'
import { formats } from '../page-state.ts'

type FacetValue = string | number

interface FacetValues {
  readonly values: readonly { readonly value: FacetValue; readonly count: number }[]
  readonly next?: string
}

interface FacetsReply {
  readonly count: number
  readonly offerings: FacetValues
  readonly groups: FacetValues
  readonly specs: FacetValues
  readonly characteristics: { readonly values: readonly (FacetValues & { readonly char: string })[] }
}

interface PriceSearchReply {
  readonly id?: string
  readonly value?: ExactNumber
  readonly currency?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly explain: readonly { readonly condition: string; readonly left: number }[]
}

const SEARCH_PATH = '/v1/search/bitmap/prices'

/** Finds one price: each choice narrows the prices that match. */
export function Prices({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle('Prices')
  const chosen = readPriceQuery(pageLocation.search)
  const facets = useLoaded(
    () => requestPrices<FacetsReply>('GET', `/facets?${toFacetsQuery(chosen)}`),
    [pageLocation.search],
  )
  const search = toSearch(chosen)
  const found = useLoaded(
    async () => search && requestPrices<PriceSearchReply>('POST', SEARCH_PATH, search),
    [pageLocation.search],
  )
  useRefresh(facets.reload)
  useRefresh(found.reload)
  const show = (change: Partial<PriceQuery>) =>
    go(`${pageLocation.path}${writePriceQuery({ ...chosen, ...change })}`, { replace: true })
  function chooseChar(char: string, value: FacetValue | '') {
    const { [char]: _before, ...chars } = chosen.chars
    show({ chars: value === '' ? chars : { ...chars, [char]: value } })
  }

  // The old choices remain, without counts, while the choices for the new conditions are read.
  const facetValues = useLast(facets.value)
  const hasCounts = facets.value !== undefined
  return html`<div class="head">
      <h1>Prices</h1>
      <div class="tools">
        ${pageLocation.search && html`<button onClick=${() => go(pageLocation.path)}>Start over</button>`}
      </div>
    </div>
    <${ErrorMessage} text=${facets.fault} />
    ${
      facetValues &&
      html`<div class="split">
        <section class="panel form" aria-label="Conditions">
          ${(
            [
              ['Offering', 'offeringId', facetValues.offerings],
              ['Group', 'groupId', facetValues.groups],
              ['Spec', 'priceSpecId', facetValues.specs],
            ] as const
          ).map(
            ([title, name, values]) =>
              html`<${Choice}
                key=${name}
                title=${title}
                hasCounts=${hasCounts}
                values=${values}
                value=${chosen[name]}
                onChange=${(value: FacetValue) => show({ [name]: String(value) })}
              />`,
          )}
          ${facetValues.characteristics.values.map((one) => html`<${Choice} key=${one.char} title=${one.char} hasCounts=${hasCounts} values=${one} value=${chosen.chars[one.char] ?? ''} onChange=${(value: FacetValue) => chooseChar(one.char, value)} />`)}
        </section>
        <section class="panel result" aria-label="Result">
          <p class="quiet" role="status">
            ${hasCounts ? `${formats.count(facetValues.count)} ${facetValues.count === 1 ? 'price matches' : 'prices match'}` : '…'}
          </p>
          <${PriceAnswer} found=${found.value} fault=${found.fault} isChosen=${search !== undefined} />
        </section>
      </div>`
    }`
}

interface ChoiceProps {
  readonly title: string
  readonly values: FacetValues
  /** False while `values` still has the counts of the previous conditions. */
  readonly hasCounts: boolean
  readonly value: FacetValue
  onChange(value: FacetValue): void
}

/** A list of values, each with the number of prices that would remain. */
function Choice({ title, values: { values, next }, hasCounts, value, onChange }: ChoiceProps) {
  const isListed = value === '' || values.some((one) => one.value === value)
  const change = onText((index) => onChange(values[Number(index)]?.value ?? ''))
  return html`<label
    ><span><bdi>${title}</bdi>${next && html` <span class="quiet">(the first ${values.length})</span>`}</span>
    <select onChange=${change}>
      <option value="-1" selected=${value === ''}>Any</option>
      ${!isListed && html`<option value="-1" disabled selected dir="auto">${value}</option>`}
      ${values.map((one, i) => html`<option key=${i} value=${i} selected=${one.value === value} dir="auto">${one.value}${hasCounts && ` (${formats.count(one.count)})`}</option>`)}
    </select>
  </label>`
}

function PriceOutcome({ found: { id, value, currency, error } }: { found: PriceSearchReply }) {
  if (!error)
    return html`<p class="price">${formats.amount(value!, currency)}</p>
      <p class="quiet id"><bdi>${id}</bdi></p>`
  return html`<p class="lead">${getSentence(error.code)}</p>`
}

interface PriceAnswerProps {
  readonly found: PriceSearchReply | undefined
  readonly fault: string | undefined
  /** True if the conditions are sufficient for a search. */
  readonly isChosen: boolean
}

function PriceAnswer({ found, fault, isChosen }: PriceAnswerProps) {
  if (fault) return html`<${ErrorMessage} text=${fault} />`
  if (!found && isChosen) return html`<p class="quiet" role="status">Loading…</p>`
  if (!found) return html`<p class="quiet none">Choose an offering, a group and a spec.</p>`
  const max = Math.max(1, ...found.explain.map(({ left }) => left))
  return html`<${PriceOutcome} found=${found} />
    <h2>How it was found</h2>
    <ol class="funnel">
      ${found.explain.map(
        ({ condition, left }, i) =>
          html`<li key=${i}>
            <bdi>${condition}</bdi><b>${formats.count(left)}</b>
            <${Bar} share=${Math.log1p(left) / Math.log1p(max)} />
          </li>`,
      )}
    </ol>`
}
