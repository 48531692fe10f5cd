import {
  describeCondition,
  describeSteps,
  getConditionTitle,
  removeCondition,
  replaceCondition,
  type PriceCondition,
  type SearchStep,
} from '../../core/prices/conditions.ts'
import { listFields, type FullPrice } from '../../core/prices/price-fields.ts'
import type { PriceQuery } from '../../core/prices/price-query.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { Bar } from '../../parts/cards.ts'
import { rich, text } from '../../texts/texts.ts'
import { Candidates } from './candidates.ts'
import { MAX_CANDIDATES, type PriceResult } from './read-result.ts'

interface ResultProps {
  readonly result: PriceResult
  readonly query: PriceQuery
  /** The conditions that were searched: those of the query, and names that all its prices have. */
  readonly conditions: readonly PriceCondition[]
  readonly count: number
  readonly today: string
  show(query: PriceQuery): void
}

/** The price, or the prices among which the user can choose, and the number of prices that each condition left. */
export function ResultView(props: ResultProps) {
  const { query, conditions, count, show } = props
  const { chosen, steps } = props.result
  return html`${chosen === null && html`<p class="fault" role="alert">${text('result.gone')}</p>`}
  ${
    chosen
      ? html`<${ChosenPrice} price=${chosen} count=${count} onBack=${() => show({ ...query, price: '' })} />`
      : html`<${Outcome} ...${props} />`
  }
  ${steps.length > 0 && html`<${Funnel} steps=${describeSteps(steps, conditions, formats)} />`}`
}

function Outcome({ result: { price, candidates, failed }, query, count, today, show }: ResultProps) {
  const choose = ({ id }: FullPrice) => show({ ...query, price: id })
  if (price)
    return html`<${PriceDetails} price=${price} /> ${
        candidates.length > 1 &&
        html`<h2>${text('result.default', { count })}</h2>
          <${Candidates} label=${text('result.matches')} prices=${candidates} onChoose=${choose} />`
      }`
  if (!failed && candidates.length === 0) return html`<p class="lead">${text('result.none')}</p>`
  if (!failed)
    return html`<p class="lead">${text('result.several')}</p>
      ${count > MAX_CANDIDATES && html`<h2>${text('result.first', { count: candidates.length })}</h2>`}
      <${Candidates} label=${text('result.matches')} prices=${candidates} onChoose=${choose} />`
  return html`<p class="lead">${text('result.none')}</p>
    <p>
      ${rich('result.leavesNone', { condition: html`<b><bdi>${describeCondition(failed, formats)}</bdi></b>` })}${' '}
      <button type="button" onClick=${() => show(removeCondition(query, failed.key))}>${text('result.remove')}</button>
    </p>
    ${
      candidates.length > 0 &&
      html`<h2>${text('result.without')}</h2>
        <${Candidates}
          label=${text('result.without')}
          needed=${getConditionTitle(failed.key)}
          prices=${candidates}
          onChoose=${(one: FullPrice) => show(replaceCondition(query, failed.key, one, today))}
        />`
    }`
}

function PriceDetails({ price }: { price: FullPrice }) {
  return html`<p class="price">${formats.amount(price.value, price.currency)}</p>
    <dl class="fields">
      ${listFields(price, formats).map(
        ([title, value]) =>
          html`<dt key=${title}><bdi>${title}</bdi></dt>
            <dd><bdi>${value}</bdi></dd>`,
      )}
    </dl>
    <p class="quiet id"><bdi>${price.id}</bdi></p>`
}

function ChosenPrice({ price, count, onBack }: { price: FullPrice; count: number; onBack(): void }) {
  return html`<${PriceDetails} price=${price} />
    <p>
      <button type="button" onClick=${onBack}>
        ${count === 1 ? text('result.back') : text('result.backTo', { count })}
      </button>
    </p>`
}

function Funnel({ steps }: { steps: readonly SearchStep[] }) {
  const max = Math.max(1, ...steps.map(({ left }) => left))
  return html`<h2>${text('result.steps')}</h2>
    <ol class="funnel">
      ${steps.map(
        ({ condition, left }, i) =>
          html`<li key=${i}>
            <bdi>${condition}</bdi><b>${formats.count(left)}</b>
            <${Bar} share=${Math.log1p(left) / Math.log1p(max)} />
          </li>`,
      )}
    </ol>`
}
