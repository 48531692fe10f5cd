import type { SourceStatus } from '@influencer-stats/stats/client'
import { useNow } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { rich, text } from '../../texts/texts.ts'

const BUDGET_REASONS = new Set(['dailyBudgetSpent', 'sideBudgetSpent'])

/** True if a person may have to act. */
export const isProblem = ({ state }: SourceStatus): boolean => state === 'failing' || state === 'paused'

/** Returns why a source is not checked, or what is wrong with it; undefined if all is well. */
export function describeProblem({ state, reason, type, next }: SourceStatus): string | undefined {
  switch (state) {
    case 'failing':
      return text(type === 'channel' ? 'sources.noUploads' : 'sources.noPlaylist')
    case 'paused':
      return text(reason !== undefined && BUDGET_REASONS.has(reason) ? 'sources.budget' : 'sources.outage')
    case 'inactive':
      if (reason === 'archived') return text('sources.archived')
      if (reason === 'ended') return text('sources.ended')
      if (reason === 'notBegun' && next !== undefined)
        return text('sources.notBegun', { day: formats.date(next.slice(0, 10)) })
      return text('sources.noPoller')
    default:
      return undefined
  }
}

/** A time of today without its seconds, or with its day. @param at ISO 8601 */
function Minute({ at }: { at: string }) {
  const [time, now] = [Date.parse(at), useNow()]
  return html`<time datetime=${at}
    >${formats.day(time) === formats.day(now) ? formats.time(time) : formats.moment(time)}</time
  >`
}

/** The last and the next check of a source. */
export function SourceChecks({ source: { state, checked, next } }: { source: SourceStatus }) {
  return html`${
    checked === undefined
      ? state === 'waiting' && text('sources.waiting')
      : html`<span>${rich('sources.checked', { time: html`<${Minute} at=${checked} />` })}</span>`
  }
  ${checked !== undefined && next !== undefined && state !== 'inactive' && html`<span>${rich('sources.next', { time: html`<${Minute} at=${next} />` })}</span>`}`
}
