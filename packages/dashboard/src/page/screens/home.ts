import type { CollectionRow } from '@influencer-stats/stats/client'
import { useMemo, useRef, useState } from 'preact/hooks'
import { getNextSort, readHomeQuery, writeHomeQuery, type HomeQuery } from '../core/home-query.ts'
import { sumGrowth, type GrowthSum } from '../core/growth.ts'
import { TIME_RANGES } from '../core/time-ranges.ts'
import { useChange, useNow, useTitle } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { Dialog, ErrorMessage } from '../parts/dialog.ts'
import { Card, ChangeLabel } from '../parts/cards.ts'
import { EMPTY_DRAFT, isEmptyDraft, NewCampaign, type CampaignDraft } from '../parts/new-campaign.ts'
import { go, useEntryState, type PageLocation } from '../router.ts'
import { formats, usePageState } from '../page-state.ts'
import { CampaignRow } from './campaign-row.ts'
import { useCampaigns } from './use-campaigns.ts'

const MAX_COMPARED = 6
/** Delay after the last key press before the list is filtered (ms). */
const TYPING_DELAY_MS = 250

const COLUMNS = [
  ['name', 'Campaign', ''],
  ['impressions', 'Views', 'number'],
  ['24h', '24 hours', 'number wide'],
  ['engagements', 'Engagements', 'number wide'],
  ['rate', 'Rate', 'number wide'],
] as const

/** The draft of a new campaign survives a change of the screen. */
let lastDraft = EMPTY_DRAFT

export function Home({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle('Campaigns')
  const query = readHomeQuery(pageLocation.search)
  const { session } = usePageState()
  const { rows, isRead, isWhole, fault, readMore: more } = useCampaigns(query)
  const paging = useChange()
  const [chosen, setChosen] = useEntryState<readonly string[]>('chosen', [])
  const [isMaking, setMaking] = useState(false)
  const [draft, setDraftState] = useState(lastDraft)
  const setDraft = (next: CampaignDraft) => setDraftState((lastDraft = next))
  function discard() {
    setDraft(EMPTY_DRAFT)
    setMaking(false)
  }
  const newCampaign = html`<${NewCampaign} draft=${draft} setDraft=${setDraft} />`

  const show = (change: Partial<HomeQuery>) => go(`/${writeHomeQuery({ ...query, ...change })}`, { replace: true })
  const canChange = session.role === 'editor'

  if (isRead && rows.length === 0 && !query.q && !query.tag)
    return html`<section class="empty">
      <h1>Your first campaign</h1>
      <p class="quiet">Paste YouTube links, one or a hundred. Their numbers are added up, stored and updated live.</p>
      ${canChange ? newCampaign : html`<p>There are no campaigns yet.</p>`}
    </section>`

  const choose = (id: string) =>
    setChosen((before) =>
      before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-MAX_COMPARED),
    )

  return html`<div class="head">
      <h1>Campaigns</h1>
      <div class="tools">
        <${Search} q=${query.q} onChange=${(q: string) => show({ q })} />
        ${chosen.length > 1 && html`<a class="button" href=${`/compare?${chosen.map((id) => `c=${encodeURIComponent(id)}`).join('&')}`}>Compare ${chosen.length}</a>`}
        ${canChange && html`<button class="primary" onClick=${() => setMaking(true)}>New campaign</button>`}
      </div>
    </div>
    ${
      query.tag &&
      html`<p class="filter">
        Tag <bdi><b>${query.tag}</b></bdi> <button class="link" onClick=${() => show({ tag: '' })}>Show all</button>
      </p>`
    }
    <${ErrorMessage} text=${fault ?? paging.fault} />
    ${isWhole && rows.length > 1 && html`<${Totals} rows=${rows} />`}
    ${rows.length > 0 && html`<${CampaignTable} rows=${rows} query=${query} chosen=${chosen} choose=${choose} show=${show} />`}
    ${isRead && rows.length === 0 && html`<p class="quiet none">No campaign matches.</p>`}
    ${!isRead && !fault && html`<p class="quiet" role="status">Loading…</p>`}
    ${more && html`<p class="more"><button disabled=${paging.isBusy} onClick=${() => paging.run(more)}>Show more</button></p>`}
    ${(isMaking || (isRead && !isEmptyDraft(draft))) && html`<${Dialog} title="New campaign" onClose=${discard}>${newCampaign}</${Dialog}>`}`
}

function Search({ q, onChange }: { q: string; onChange(q: string): void }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const onInput = onText((text) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(text), TYPING_DELAY_MS)
  })
  return html`<input
    type="search"
    class="search"
    aria-label="Search campaigns"
    placeholder="Search"
    maxlength="200"
    value=${q}
    onInput=${onInput}
  />`
}

/** Describes the time that a sum of growths covers, and the number of campaigns that it omits. */
function toPeriod({ counted, young, youngSince, omitted }: GrowthSum, now: number): string {
  const isYoung = young > 0 && young === counted
  const period = isYoung ? `since ${formats.clock(youngSince, now)}` : 'in 24 h'
  const younger = young > 0 && !isYoung ? ` (${formats.count(young)} younger than that)` : ''
  const unknown = omitted > 0 ? `, without ${formats.count(omitted)} of unknown growth` : ''
  return `${period}${younger}${unknown}`
}

function Totals({ rows }: { rows: readonly CollectionRow[] }) {
  const now = useNow()
  const sums = useMemo(() => {
    const sum = (getValue: (row: CollectionRow) => number | undefined) =>
      rows.reduce((all, row) => all + (getValue(row) ?? 0), 0)
    return {
      views: sum((row) => row.stats?.impressions),
      engagements: sum((row) => row.stats?.engagements),
      day: sumGrowth(
        rows.map((row) => row.change?.['24h']),
        TIME_RANGES['24h'].length,
        now,
      ),
    }
  }, [rows, now])
  const period = toPeriod(sums.day, now)
  return html`<dl class="cards">
    <${Card} title="Views" value=${formats.count(sums.views)}
      ><${ChangeLabel} now=${sums.views} growth=${sums.day.impressions} period=${period}
    /></${Card}>
    <${Card} title="Engagements" value=${formats.count(sums.engagements)}
      ><${ChangeLabel} now=${sums.engagements} growth=${sums.day.engagements} period=${period}
    /></${Card}>
    <${Card} title="Engagement rate" value=${sums.views > 0 ? formats.percent(sums.engagements / sums.views) : '–'}
      >of all views</${Card}
    >
    <${Card} title="Campaigns" value=${formats.count(rows.length)}
      >${formats.count(rows.reduce((all, row) => all + row.videos.length, 0))} videos</${Card}
    >
  </dl>`
}

interface TableProps {
  readonly rows: readonly CollectionRow[]
  readonly query: HomeQuery
  readonly chosen: readonly string[]
  choose(id: string): void
  show(change: Partial<HomeQuery>): void
}

function CampaignTable({ rows, query, chosen, choose, show }: TableProps) {
  const order = (column: string) =>
    query.sort === column ? 'ascending' : query.sort === `-${column}` ? 'descending' : 'none'
  const arrow = { ascending: '↑', descending: '↓', none: '' }
  return html`<div class="panel">
    <table class="campaigns">
      <thead>
        <tr>
          <th class="wide"><span class="hidden">Compare</span></th>
          ${COLUMNS.map(
            ([column, title, kind]) =>
              html`<th scope="col" class=${kind} aria-sort=${order(column)} key=${column}>
                <button class="sort" onClick=${() => show({ sort: getNextSort(query.sort, column) })}>
                  ${title}<span aria-hidden="true">${' '}${arrow[order(column)]}</span>
                </button>
              </th>`,
          )}
          <th scope="col" class="wide">7 days</th>
          <th scope="col" class="wide number">As of</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${CampaignRow} key=${row.id} row=${row} isChosen=${chosen.includes(row.id)} choose=${choose} />`)}
      </tbody>
    </table>
  </div>`
}
