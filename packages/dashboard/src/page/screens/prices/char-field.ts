import { useId, useState } from 'preact/hooks'
import { describeValue, isRange } from '../../core/prices/price-fields.ts'
import type { CharValue } from '../../core/prices/price-query.ts'
import { html, onText } from '../../html.ts'
import { Combobox } from '../../parts/combobox.ts'
import { Tabs } from '../../parts/tabs.ts'
import type { ListOption, ReadOptions } from '../../parts/use-options.ts'
import { text } from '../../texts/texts.ts'
import type { CharFacet } from './read-facets.ts'

interface CharFieldProps {
  readonly char: string
  /** Absent if no price that matches has the characteristic. */
  readonly facet: CharFacet | undefined
  readonly value: CharValue | undefined
  readonly fault: string | undefined
  readonly placeholder: string
  readonly version: string
  read: ReadOptions<CharValue>
  onChange(value: CharValue | undefined): void
}

/** A condition on a characteristic: a number for ranges, Yes or No for booleans, otherwise a list of values. */
export function CharField(props: CharFieldProps) {
  const { char, facet, value, fault, onChange } = props
  // Without prices that match, only the chosen value states the type.
  const isNumber = facet ? facet.values.some((one) => isRange(one.value)) : typeof value === 'number'
  if (isNumber) return html`<${NumberField} ...${props} />`
  if (!fault && (facet ? facet.type : typeof value) === 'boolean') return html`<${YesNoField} ...${props} />`
  return html`<${Combobox}
    label=${char}
    value=${value === undefined ? '' : describeValue(value)}
    placeholder=${props.placeholder}
    fault=${fault}
    read=${props.read}
    version=${props.version}
    onChoose=${(option: ListOption<CharValue>) => onChange(option.value)}
    onClear=${() => onChange(undefined)}
  />`
}

function YesNoField({ char, facet, value, onChange }: CharFieldProps) {
  const options = [true, false].map((one) => {
    const count = facet?.values.find((other) => other.value === one)?.count
    return [
      String(one),
      count === undefined ? describeValue(one) : text('find.withCount', { value: describeValue(one), count }),
    ]
  })
  const change = (chosen: string) => onChange(chosen === '' ? undefined : chosen === 'true')
  return html`<div class="field">
    <span><bdi>${char}</bdi></span>
    <${Tabs}
      label=${char}
      options=${[['', text('find.any')], ...options]}
      value=${String(value ?? '')}
      onChange=${change}
    />
  </div>`
}

/** The smallest and the largest value, or that any value is accepted. */
export const describeLimits = ({ min, max }: Pick<CharFacet, 'min' | 'max'> = {}): string =>
  min === undefined || max === undefined ? text('find.any') : `${describeValue(min)} – ${describeValue(max)}`

function NumberField({ char, facet, value, fault, onChange }: CharFieldProps) {
  const id = useId()
  /** The number that is being typed. */
  const [typed, setTyped] = useState<string>()
  const change = onText((entered) => {
    const number = Number(entered)
    setTyped(undefined)
    onChange(entered !== '' && Number.isSafeInteger(number) ? number : undefined)
  })
  return html`<div class="field">
    <label for=${id}><bdi>${char}</bdi></label>
    <input
      id=${id}
      type="number"
      step="1"
      placeholder=${describeLimits(facet)}
      value=${typed ?? value ?? ''}
      aria-invalid=${fault ? true : undefined}
      aria-describedby=${fault ? `${id}-fault` : undefined}
      onInput=${onText(setTyped)}
      onChange=${change}
    />
    ${fault && html`<p class="fault" id=${`${id}-fault`}>${fault}</p>`}
  </div>`
}
