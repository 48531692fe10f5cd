import { listColumns, type FullPrice } from '../../core/prices/price-fields.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'

interface CandidatesProps {
  readonly label: string
  /** Title of a column that is shown even if its values do not differ. */
  readonly needed?: string
  readonly prices: readonly FullPrice[]
  onChoose(price: FullPrice): void
}

const getStart = ({ from = '' }: FullPrice) => from

/** Prices as a table of the fields that distinguish them, in the order of time. Values that differ are highlighted. */
export function Candidates({ label, needed, prices: unordered, onChoose }: CandidatesProps) {
  if (unordered.length === 0) return null
  const prices = unordered.toSorted((a, b) => (getStart(a) < getStart(b) ? -1 : getStart(a) > getStart(b) ? 1 : 0))
  const [amount, ...others] = listColumns(prices, formats, needed)
  return html`<div class="candidates">
    <table aria-label=${label}>
      <thead>
        <tr>
          ${[amount!, ...others].map(({ title }) => html`<th key=${title} scope="col"><bdi>${title}</bdi></th>`)}
        </tr>
      </thead>
      <tbody>
        ${prices.map(
          (price, row) =>
            html`<tr key=${price.id}>
              <th scope="row">
                <button type="button" class="link" onClick=${() => onChoose(price)}>
                  <${Difference} differs=${amount!.differs} text=${amount!.cells[row]!} />
                </button>
              </th>
              ${others.map(
                ({ title, cells, differs }) =>
                  html`<td key=${title} data-title=${title}>
                    <${Difference} differs=${differs} text=${cells[row] || '–'} />
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

const Difference = ({ text, differs }: { text: string; differs: boolean }) =>
  differs ? html`<mark><bdi>${text}</bdi></mark>` : html`<bdi>${text}</bdi>`
