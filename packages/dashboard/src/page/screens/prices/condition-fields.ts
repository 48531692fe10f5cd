import { useEffect, useRef } from 'preact/hooks'
import { getConditionTitle, toCharKey, type ConditionKey, type PriceCondition } from '../../core/prices/conditions.ts'
import { describeValue, isRange } from '../../core/prices/price-fields.ts'
import type { CharValue, PriceQuery } from '../../core/prices/price-query.ts'
import { html } from '../../html.ts'
import { Combobox } from '../../parts/combobox.ts'
import { Tabs } from '../../parts/tabs.ts'
import type { ListOption, ReadOptions } from '../../parts/use-options.ts'
import { text } from '../../texts/texts.ts'
import { CharField, describeLimits } from './char-field.ts'
import { CurrencyField } from './currency-field.ts'
import {
  LIST_KEYS,
  LISTS,
  requestFacets,
  toOptions,
  type AmountRange,
  type FacetsReply,
  type FacetValues,
  type ListKey,
} from './read-facets.ts'
import { TimeField } from './time-field.ts'

/** Number of values in a part of a list. */
const PART_VALUES = '50'

const ORDERS = [
  ['name', text('find.byName')],
  ['count', text('find.byCount')],
] as const

/** The condition whose field receives the focus when this object changes. */
export interface FocusedCondition {
  readonly key: ConditionKey
}

interface ConditionFieldsProps {
  readonly query: PriceQuery
  /** The query without the conditions that no price can meet. */
  readonly valid: PriceQuery
  readonly today: string
  readonly facets: FacetsReply
  /** The amounts of the prices that match all conditions except the currency. */
  readonly ranges: readonly AmountRange[]
  readonly missing: readonly PriceCondition[]
  readonly focused: FocusedCondition | undefined
  change(part: Partial<PriceQuery>): void
}

const MISSING_TEXTS = { offeringId: 'find.noOffering', groupId: 'find.noGroup', priceSpecId: 'find.noSpec' } as const

function describeMissing({ key, value }: PriceCondition): string {
  const title = getConditionTitle(key)
  if (typeof value === 'number') return text('find.noSuchNumber', { title })
  return key in MISSING_TEXTS ? text(MISSING_TEXTS[key as ListKey]) : text('find.noSuchValue', { title })
}

/** The only value of a list, or the values that it accepts. */
const toPlaceholder = <T>(
  { values, next }: FacetValues<T>,
  toText: (value: T) => string,
  accepted = text('find.any'),
) => (values.length === 1 && next === undefined ? text('find.onlyOne', { value: toText(values[0]!.value) }) : accepted)

/** The fields of all conditions. */
export function ConditionFields(props: ConditionFieldsProps) {
  const { query, valid, today, facets, ranges, missing, focused, change } = props
  const { order, chars } = query
  const version = JSON.stringify([valid, today])
  function getFault(key: ConditionKey): string | undefined {
    const found = missing.find((one) => one.key === key)
    return found && describeMissing(found)
  }
  const options = (q: string, after: string | undefined) => ({ q: q.trim(), after, limit: PART_VALUES, sort: order })

  const readNames =
    (key: ListKey): ReadOptions<string> =>
    async (q, after) => {
      const reply = await requestFacets(valid, today, { facet: LISTS[key], ...options(q, after) })
      return toOptions(reply[LISTS[key]], String)
    }
  const readValues =
    (char: string): ReadOptions<CharValue> =>
    async (q, after) => {
      const reply = await requestFacets(valid, today, { char, ...options(q, after) })
      const [found = { values: [] }] = reply.characteristics.values
      // Ranges are chosen by a number.
      const values = found.values.filter(({ value }) => !isRange(value))
      return toOptions({ ...found, values } as FacetValues<CharValue>, describeValue)
    }
  function changeChar(char: string, value: CharValue | undefined) {
    const { [char]: _before, ...others } = chars
    change({ chars: value === undefined ? others : { ...others, [char]: value } })
  }

  const listed = facets.characteristics.values
  const focusedChar = focused && getConditionTitle(focused.key)
  const names = [...listed.map(({ char }) => char), ...Object.keys(chars), ...(focusedChar ? [focusedChar] : [])]
  const fields = useRef<HTMLElement>(null)
  useEffect(() => {
    const field = focused && fields.current!.querySelector(`[data-condition="${CSS.escape(focused.key)}"]`)
    field?.querySelector<HTMLElement>('input, button')?.focus()
  }, [focused])

  return html`<section ref=${fields} class="panel form" aria-label=${text('find.conditions')}>
    ${LIST_KEYS.map(
      (key) =>
        html`<${Combobox}
          key=${key}
          label=${getConditionTitle(key)}
          value=${query[key]}
          placeholder=${toPlaceholder(facets[LISTS[key]], String)}
          fault=${getFault(key)}
          read=${readNames(key)}
          version=${version}
          onChoose=${({ value }: ListOption<string>) => change({ [key]: value })}
          onClear=${() => change({ [key]: '' })}
        />`,
    )}
    <${TimeField} at=${query.at} today=${today} onChange=${(at: string) => change({ at })} />
    <${CurrencyField}
      currency=${query.currency}
      ranges=${ranges}
      onChange=${(currency: string) => change({ currency })}
    />
    ${[...new Set(names)].sort().map((char) => {
      const facet = listed.find((one) => one.char === char)
      return html`<div key=${char} data-condition=${toCharKey(char)}>
        <${CharField}
          char=${char}
          facet=${facet}
          value=${chars[char]}
          fault=${getFault(toCharKey(char))}
          placeholder=${facet ? toPlaceholder(facet, describeValue, describeLimits(facet)) : text('find.any')}
          read=${readValues(char)}
          version=${version}
          onChange=${(value: CharValue | undefined) => changeChar(char, value)}
        />
      </div>`
    })}
    ${facets.characteristics.next !== undefined && html`<p class="quiet">${text('find.more')}</p>`}
    <div class="field">
      <span>${text('find.order')}</span>
      <${Tabs}
        label=${text('find.order')}
        options=${ORDERS}
        value=${order}
        onChange=${(one: string) => change({ order: one as PriceQuery['order'] })}
      />
    </div>
  </section>`
}
