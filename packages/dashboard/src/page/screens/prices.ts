import { ask } from '../api.ts'
import { sentenceOf } from '../core/refusals.ts'
import { facetsQuery, readPriceQuery, searchFor, writePriceQuery, type PriceQuery } from '../core/price-query.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { Fault } from '../parts/dialog.ts'
import { Bar } from '../parts/figures.ts'
import { useRefresh } from '../refresh.ts'
import { go, type Place } from '../router.ts'
import { formats } from '../session.ts'

type Value = string | number

interface Values {
  readonly values: readonly { readonly value: Value; readonly count: number }[]
  readonly next?: string
}

interface Facets {
  readonly count: number
  readonly offerings: Values
  readonly groups: Values
  readonly specs: Values
  readonly characteristics: { readonly values: readonly (Values & { readonly char: string })[] }
}

interface Found {
  readonly id?: string
  readonly value?: number
  readonly currency?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly explain: readonly { readonly condition: string; readonly left: number }[]
}

const SEARCH = '/api/prices/v1/search/bitmap/prices'

/** The one price that fits, found by choosing. */
export function Prices({ place }: { place: Place }) {
  useTitle('Prices')
  const chosen = readPriceQuery(place.search)
  const facets = useLoaded(() => ask<Facets>('GET', `/api/prices/facets?${facetsQuery(chosen)}`), [place.search])
  const search = searchFor(chosen)
  const found = useLoaded(async () => search && ask<Found>('POST', SEARCH, search), [place.search])
  useRefresh(facets.reload)
  useRefresh(found.reload)
  const show = (change: Partial<PriceQuery>) =>
    go(`${place.path}${writePriceQuery({ ...chosen, ...change })}`, { replace: true })
  function chooseChar(char: string, value: Value | '') {
    const { [char]: _before, ...chars } = chosen.chars
    show({ chars: value === '' ? chars : { ...chars, [char]: value } })
  }

  const told = facets.value
  return html`<div class="head">
      <h1>Prices</h1>
      <div class="tools">${place.search && html`<button onClick=${() => go(place.path)}>Start over</button>`}</div>
    </div>
    <${Fault} text=${facets.fault} />
    ${
      told &&
      html`<div class="split">
        <section class="panel form" aria-label="Conditions">
          <${Choice}
            title="Offering"
            values=${told.offerings}
            value=${chosen.offeringId}
            onChange=${(value: Value) => show({ offeringId: String(value) })}
          />
          <${Choice}
            title="Group"
            values=${told.groups}
            value=${chosen.groupId}
            onChange=${(value: Value) => show({ groupId: String(value) })}
          />
          <${Choice}
            title="Spec"
            values=${told.specs}
            value=${chosen.priceSpecId}
            onChange=${(value: Value) => show({ priceSpecId: String(value) })}
          />
          ${told.characteristics.values.map((one) => html`<${Choice} key=${one.char} title=${one.char} values=${one} value=${chosen.chars[one.char] ?? ''} onChange=${(value: Value) => chooseChar(one.char, value)} />`)}
        </section>
        <section class="panel result" aria-label="Result">
          <p class="quiet" role="status">
            ${formats.count(told.count)} ${told.count === 1 ? 'price fits' : 'prices fit'}
          </p>
          <${Answer} found=${found.value} fault=${found.fault} />
        </section>
      </div>`
    }`
}

interface ChoiceProps {
  readonly title: string
  readonly values: Values
  readonly value: Value
  onChange(value: Value): void
}

/** A list to choose from, with how many prices would be left. */
function Choice({ title, values: { values, next }, value, onChange }: ChoiceProps) {
  const isThere = value === '' || values.some((one) => one.value === value)
  const change = (event: Event) => {
    const place = Number((event.target as HTMLSelectElement).value)
    onChange(place < 0 ? '' : values[place]!.value)
  }
  return html`<label
    ><span><bdi>${title}</bdi>${next && html` <span class="quiet">(the first ${values.length})</span>`}</span>
    <select onChange=${change}>
      <option value="-1" selected=${value === ''}>Any</option>
      ${!isThere && html`<option value="-1" disabled selected dir="auto">${value}</option>`}
      ${values.map((one, i) => html`<option key=${i} value=${i} selected=${one.value === value} dir="auto">${one.value} (${formats.count(one.count)})</option>`)}
    </select>
  </label>`
}

function Outcome({ found: { id, value, currency, error } }: { found: Found }) {
  if (!error)
    return html`<p class="price">${formats.amount(value!, currency)}</p>
      <p class="quiet id"><bdi>${id}</bdi></p>`
  return html`<p class="lead">${sentenceOf(error.code)}</p>`
}

function Answer({ found, fault }: { found: Found | undefined; fault: string | undefined }) {
  if (fault) return html`<${Fault} text=${fault} />`
  if (!found) return html`<p class="quiet none">Choose an offering, a group and a spec.</p>`
  const most = Math.max(1, ...found.explain.map(({ left }) => left))
  return html`<${Outcome} found=${found} />
    <h2>How it was found</h2>
    <ol class="funnel">
      ${found.explain.map(
        ({ condition, left }, i) =>
          html`<li key=${i}>
            <bdi>${condition}</bdi><b>${formats.count(left)}</b>
            <${Bar} share=${Math.log1p(left) / Math.log1p(most)} />
          </li>`,
      )}
    </ol>`
}
