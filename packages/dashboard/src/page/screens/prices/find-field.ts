import { getConditionTitle, toCharKey, type ConditionKey } from '../../core/prices/conditions.ts'
import { describeValue, isRange } from '../../core/prices/price-fields.ts'
import { readPriceQuery, type CharValue, type PriceQuery } from '../../core/prices/price-query.ts'
import { html } from '../../html.ts'
import { Combobox } from '../../parts/combobox.ts'
import type { ListOption, OptionPage } from '../../parts/use-options.ts'
import { LIST_KEYS, LISTS, requestFacets, type FacetsReply } from './read-facets.ts'

/** Maximum number of values of each list in the results. */
const MAX_RESULTS = '6'

/** What an option of the field means: a value of a condition, or a characteristic alone. */
export interface FoundName {
  readonly key: ConditionKey
  readonly value?: CharValue
  /** True if it does not match the other conditions, which it therefore replaces. */
  readonly startsOver: boolean
}

const simplify = (text: string) => text.normalize('NFKC').toLowerCase()

/** The names and values in a reply, as options. */
function listFound(reply: FacetsReply, q: string, startsOver: boolean): ListOption<FoundName>[] {
  const names = LIST_KEYS.flatMap((key) =>
    reply[LISTS[key]].values.map(({ value, count }) => ({
      key: `${key} ${value}`,
      text: value,
      note: getConditionTitle(key),
      count,
      value: { key, value, startsOver },
    })),
  )
  const chars = reply.characteristics.values.flatMap(({ char, values }) => {
    const key = toCharKey(char)
    const isNamed = simplify(char).includes(simplify(q))
    const whole = { key, text: char, note: 'Characteristic', value: { key, startsOver } }
    const found = values.flatMap(({ value, count }) =>
      isRange(value) || Array.isArray(value)
        ? []
        : [
            {
              key: `${key} ${typeof value} ${String(value)}`,
              text: describeValue(value),
              note: char,
              count,
              value: { key, value: value as CharValue, startsOver },
            },
          ],
    )
    return isNamed ? [whole, ...found] : found
  })
  return [...names, ...chars]
}

interface FindFieldProps {
  readonly query: PriceQuery
  readonly today: string
  onChoose(found: FoundName): void
}

/** Finds offerings, groups, specs, characteristics and values by a part of a word. */
export function FindField({ query, today, onChoose }: FindFieldProps) {
  async function read(q: string): Promise<OptionPage<FoundName>> {
    if (!q.trim()) return { options: [] }
    const options = { q: q.trim(), limit: MAX_RESULTS }
    const found = listFound(await requestFacets(query, today, options), q, false)
    if (found.length > 0) return { options: found }
    return { options: listFound(await requestFacets(readPriceQuery('?at=any'), today, options), q, true) }
  }
  return html`<div class="find">
    <${Combobox}
      label="Find"
      isLabelHidden=${true}
      hasFocus=${true}
      value=""
      placeholder="Part of an offering, a characteristic or a value"
      read=${read}
      version=""
      onChoose=${(option: ListOption<FoundName>) => onChoose(option.value)}
    />
  </div>`
}
