import { getConditionTitle, toCharKey, type ConditionKey } from '../../core/prices/conditions.ts'
import { containsText, sortByMatch } from '../../core/prices/text-match.ts'
import { describeValue, isRange } from '../../core/prices/price-fields.ts'
import { readPriceQuery, type CharValue, type PriceQuery } from '../../core/prices/price-query.ts'
import { html } from '../../html.ts'
import { Combobox } from '../../parts/combobox.ts'
import type { ListOption, OptionPage } from '../../parts/use-options.ts'
import { text } from '../../texts/texts.ts'
import { LIST_KEYS, LISTS, requestFacets, type FacetsReply } from './read-facets.ts'

/** Number of values of each list that are read, and of those that are shown: the texts that begin with the input. */
const MAX_READ = '50'
const MAX_SHOWN = 8

/** What an option of the field means: a value of a condition, or a characteristic alone. */
export interface FoundName {
  readonly key: ConditionKey
  readonly value?: CharValue
  /** True if it does not match the other conditions, which it therefore replaces. */
  readonly startsOver: boolean
}

/** The names and values in a reply, as options. */
function listFound(reply: FacetsReply, q: string, startsOver: boolean): ListOption<FoundName>[] {
  const select = (options: ListOption<FoundName>[]) => sortByMatch(options, q).slice(0, MAX_SHOWN)
  const names = LIST_KEYS.map((key) =>
    select(
      reply[LISTS[key]].values.map(({ value, count }) => ({
        key: `${key} ${value}`,
        text: value,
        note: getConditionTitle(key),
        count,
        value: { key, value, startsOver },
      })),
    ),
  )
  const chars = reply.characteristics.values.map(({ char, values }) => {
    const key = toCharKey(char)
    const whole = { key, text: char, note: text('price.characteristic'), value: { key, startsOver } }
    const found = select(
      values
        .filter(({ value }) => !isRange(value))
        .map(({ value, count }) => ({
          key: `${key} ${typeof value} ${String(value)}`,
          text: describeValue(value),
          note: char,
          count,
          value: { key, value: value as CharValue, startsOver },
        })),
    )
    return containsText(char, q) ? [whole, ...found] : found
  })
  return sortByMatch([...names, ...chars].flat(), q)
}

interface FindFieldProps {
  readonly hasFocus: boolean
  readonly query: PriceQuery
  readonly today: string
  onChoose(found: FoundName): void
}

/** Finds offerings, groups, specs, characteristics and values by a part of a word. */
export function FindField({ hasFocus, query, today, onChoose }: FindFieldProps) {
  async function read(q: string): Promise<OptionPage<FoundName>> {
    if (!q.trim()) return { options: [] }
    const options = { q: q.trim(), limit: MAX_READ }
    const found = listFound(await requestFacets(query, today, options), q, false)
    if (found.length > 0) return { options: found }
    return { options: listFound(await requestFacets(readPriceQuery('?at=any'), today, options), q, true) }
  }
  return html`<div class="find" role="search">
    <${Combobox}
      label=${text('find.label')}
      isLabelHidden=${true}
      hasFocus=${hasFocus}
      value=""
      placeholder=${text('find.placeholder')}
      read=${read}
      version=""
      onChoose=${(option: ListOption<FoundName>) => onChoose(option.value)}
    />
  </div>`
}
