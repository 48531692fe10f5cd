import type { ComponentChildren } from 'preact'
import { getCoverage, sumEdits, type Measure, type WindowGrowth } from '../core/growth.ts'
import { computeGrowthShare } from '../core/series.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'

/** Less would be told as none. */
const MIN_SHARE = 0.0005

interface ChangeLabelProps {
  readonly now: number
  readonly growth: number
  /** Words for the time that the growth covers. */
  readonly period?: string | undefined
}

/** By how much a sum has grown: as a share of what it was, and as a number. */
export function ChangeLabel({ now, growth, period }: ChangeLabelProps) {
  const share = computeGrowthShare(now, growth)
  const direction = growth > 0 ? 'up' : growth < 0 ? 'down' : 'same'
  const arrow = { up: '↑', down: '↓', same: '' }[direction]
  return html`<span class=${`change ${direction}`}>
    <span aria-hidden="true">${arrow}</span>${' '}${formats.signed(growth)}
    ${share !== undefined && Math.abs(share) >= MIN_SHARE && html`<span class="share">${' '}${formats.signedPercent(share)}</span>`}
    ${period && html`<span class="period">${' '}${period}</span>`}
  </span>`
}

interface GrowthChangeProps {
  /** At the end of the window. */
  readonly sum: number
  readonly growth: WindowGrowth
  readonly measure: Measure
  readonly window: { readonly title: string; readonly length: number }
  /** Without the name of the window where it covers all of it. */
  readonly isShort?: boolean
}

/** Growth in a window, under the name of the time that it really covers. */
export function GrowthChange({ sum, growth, measure, window: { title, length }, isShort = false }: GrowthChangeProps) {
  const now = useNow()
  const { kind, since } = getCoverage(growth, length, now)
  const name = isShort ? undefined : `in ${title}`
  const from = `since ${formats.clock(since, now)}`
  const period = kind === 'whole' ? name : kind === 'young' && !isShort ? `${from} (younger than ${title})` : from
  // The growth is a share of the sum without edits.
  return html`<${ChangeLabel} now=${sum - sumEdits(growth, measure)} growth=${growth[measure]} period=${period} />`
}

/** A share as a bar; what it is stands beside it. */
export function Bar({ share }: { share: number }) {
  return html`<span class="bar" aria-hidden="true"><i style=${{ width: `${100 * share}%` }}></i></span>`
}

/** A number that moves; it lights up when it does. */
export function MovingNumber({ value, text }: { value: number; text: string }) {
  return html`<span key=${value} class="moving">${text}</span>`
}

/** The time that something was true. Rendered apart from its parent, since it changes when the day ends. @param at ISO 8601 */
export function Clock({ at }: { at: string }) {
  return html`<time datetime=${at}>${formats.clock(Date.parse(at), useNow())}</time>`
}

interface CardProps {
  readonly title: string
  readonly value: ComponentChildren
  readonly children?: ComponentChildren
}

export function Card({ title, value, children }: CardProps) {
  return html`<div class="card">
    <dt>${title}</dt>
    <dd><strong>${value}</strong>${children && html`<span class="note">${children}</span>`}</dd>
  </div>`
}
