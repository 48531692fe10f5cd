import type { ComponentChildren } from 'preact'
import { getCoverage, sumEdits, type Measure, type WindowGrowth } from '../core/growth.ts'
import { computeGrowthShare } from '../core/series.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'

/** Smaller shares are not shown, because their text would be 0. */
const MIN_SHARE = 0.0005

interface ChangeLabelProps {
  /** The current sum. */
  readonly now: number
  readonly growth: number
  /** Words for the time that the growth covers. */
  readonly period?: string | undefined
}

/** The growth of a sum, as a share of the earlier sum and as a number. */
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
  /** The sum at the end of the window. */
  readonly sum: number
  readonly growth: WindowGrowth
  readonly measure: Measure
  readonly window: { readonly title: string; readonly within: string; readonly length: number }
  /** Omits the title of the window. */
  readonly isShort?: boolean
}

/** Growth in a window, with the time that it covers. */
export function GrowthChange({
  sum,
  growth,
  measure,
  window: { title, within, length },
  isShort = false,
}: GrowthChangeProps) {
  const now = useNow()
  const { kind, since } = getCoverage(growth, length, now)
  const time = formats.clock(since, now)
  const isYoung = kind === 'young' && !isShort
  const from = () => (isYoung ? text('growth.sinceYoung', { time, range: title }) : text('growth.since', { time }))
  const period = kind === 'whole' ? (isShort ? undefined : within) : from()
  // The growth is a share of the earlier sum, which is the sum without edits minus the growth.
  return html`<${ChangeLabel} now=${sum - sumEdits(growth, measure)} growth=${growth[measure]} period=${period} />`
}

/** A share as a bar. Its number is next to it. */
export function Bar({ share }: { share: number }) {
  return html`<span class="bar" aria-hidden="true"><i style=${{ width: `${100 * share}%` }}></i></span>`
}

/** A live number. It lights up when it changes. */
export function MovingNumber({ value, text: words }: { value: number; text: string }) {
  return html`<span key=${value} class="moving">${words}</span>`
}

/** A time. It renders separately from its parent, because its text changes when the day ends. @param at ISO 8601 */
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
