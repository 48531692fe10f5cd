import type { CollectionRow } from '@influencer-stats/stats/client'
import { useMemo, useRef, useState } from 'preact/hooks'
import { getNextSort, readHomeQuery, writeHomeQuery, type HomeQuery } from '../core/home-query.ts'
import { sumGrowth, type GrowthSum } from '../core/growth.ts'
import { TIME_RANGES } from '../core/time-ranges.ts'
import { useChange, useNow, useTitle } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { Dialog, ErrorMessage } from '../parts/dialog.ts'
import { CampaignImport } from '../parts/campaign-import.ts'
import { Card, ChangeLabel } from '../parts/cards.ts'
import { EMPTY_DRAFT, isEmptyDraft, NewCampaign, type CampaignDraft } from '../parts/new-campaign.ts'
import { go, useEntryState, type PageLocation } from '../router.ts'
import { formats, usePageState } from '../page-state.ts'
import { rich, text } from '../texts/texts.ts'
import { CampaignRow } from './campaign-row.ts'
import { useCampaigns } from './use-campaigns.ts'

const MAX_COMPARED = 6
/** Delay after the last key press before the list is filtered (ms). */
const TYPING_DELAY_MS = 250

const COLUMNS = [
  ['name', text('list.campaign'), ''],
  ['impressions', text('measure.views'), 'number'],
  ['24h', text('range.24h'), 'number wide'],
  ['engagements', text('measure.engagements'), 'number wide'],
  ['rate', text('list.rate'), 'number wide'],
] as const

/** The draft of a new campaign survives a change of the screen. */
let lastDraft = EMPTY_DRAFT

export function Home({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle(text('frame.campaigns'))
  const query = readHomeQuery(pageLocation.search)
  const { session } = usePageState()
  const { rows, isRead, isWhole, fault, readMore: more, reload } = useCampaigns(query)
  const paging = useChange()
  const [chosen, setChosen] = useEntryState<readonly string[]>('chosen', [])
  const [isMaking, setMaking] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const [draft, setDraftState] = useState(lastDraft)
  const setDraft = (next: CampaignDraft) => setDraftState((lastDraft = next))
  function discard() {
    setDraft(EMPTY_DRAFT)
    setMaking(false)
  }
  const newCampaign = html`<${NewCampaign} draft=${draft} setDraft=${setDraft} />`

  const show = (change: Partial<HomeQuery>) => go(`/${writeHomeQuery({ ...query, ...change })}`, { replace: true })
  const canChange = session.role === 'editor'

  const importing = isImporting && html`<${CampaignImport} onClose=${() => setImporting(false)} onImported=${reload} />`

  if (isRead && rows.length === 0 && !isImporting && !query.q && !query.tag)
    return html`<section class="empty">
      <h1>${text('list.first')}</h1>
      <p class="quiet">${text('list.firstNote')}</p>
      ${canChange ? newCampaign : html`<p>${text('list.none')}</p>`}
      ${canChange && html`<p class="files"><button onClick=${() => setImporting(true)}>${text('files.import')}</button></p>`}
    </section>`

  const choose = (id: string) =>
    setChosen((before) =>
      before.includes(id) ? before.filter((one) => one !== id) : [...before, id].slice(-MAX_COMPARED),
    )

  return html`<div class="head">
      <h1>${text('frame.campaigns')}</h1>
      <div class="tools">
        <${Search} q=${query.q} onChange=${(q: string) => show({ q })} />
        ${chosen.length > 1 && html`<a class="button" href=${`/compare?${chosen.map((id) => `c=${encodeURIComponent(id)}`).join('&')}`}>${text('list.compareCount', { count: chosen.length })}</a>`}
        ${canChange && html`<button class="primary" onClick=${() => setMaking(true)}>${text('list.new')}</button>`}
      </div>
    </div>
    ${
      query.tag &&
      html`<p class="filter">
        ${rich('list.tag', { tag: html`<bdi><b>${query.tag}</b></bdi>` })}${' '}
        <button class="link" onClick=${() => show({ tag: '' })}>${text('list.showAll')}</button>
      </p>`
    }
    <${ErrorMessage} text=${fault ?? paging.fault} />
    ${isWhole && rows.length > 1 && html`<${Totals} rows=${rows} />`}
    ${rows.length > 0 && html`<${CampaignTable} rows=${rows} query=${query} chosen=${chosen} choose=${choose} show=${show} />`}
    ${isRead && rows.length === 0 && !isImporting && html`<p class="quiet none">${text('list.noMatch')}</p>`}
    ${!isRead && !fault && html`<p class="quiet" role="status">${text('frame.loading')}</p>`}
    ${more && html`<p class="more"><button disabled=${paging.isBusy} onClick=${() => paging.run(more)}>${text('frame.showMore')}</button></p>`}
    ${isRead && rows.length > 0 && html`<${FileTools} importFile=${canChange ? () => setImporting(true) : undefined} />`}
    ${importing}
    ${(isMaking || (isRead && !isEmptyDraft(draft))) && html`<${Dialog} title=${text('list.new')} onClose=${discard}>${newCampaign}</${Dialog}>`}`
}

/** Exports of all campaigns, and the import. */
function FileTools({ importFile }: { importFile: (() => void) | undefined }) {
  const link = (format: 'csv' | 'xlsx') =>
    html`<a download href=${`/api/stats/campaigns/export?format=${format}`}>${format.toUpperCase()}</a>`
  return html`<p class="files quiet">
    <span>${text('files.exportAll')} ${link('csv')} ${link('xlsx')}</span>
    ${importFile && html`<button onClick=${importFile}>${text('files.import')}</button>`}
  </p>`
}

function Search({ q, onChange }: { q: string; onChange(q: string): void }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const onInput = onText((typed) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onChange(typed), TYPING_DELAY_MS)
  })
  return html`<input
    type="search"
    class="search"
    aria-label=${text('list.search')}
    placeholder=${text('list.searchShort')}
    maxlength="200"
    value=${q}
    onInput=${onInput}
  />`
}

/** Describes the time that a sum of growths covers, and the number of campaigns that it omits. */
function toPeriod({ counted, young, youngSince, omitted }: GrowthSum, now: number): string {
  const isYoung = young > 0 && young === counted
  const period = isYoung ? text('growth.since', { time: formats.clock(youngSince, now) }) : text('list.in24h')
  const younger = young > 0 && !isYoung ? ` ${text('list.younger', { count: young })}` : ''
  const unknown = omitted > 0 ? `, ${text('list.omitted', { count: omitted })}` : ''
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
    <${Card} title=${text('measure.views')} value=${formats.count(sums.views)}
      ><${ChangeLabel} now=${sums.views} growth=${sums.day.impressions} period=${period}
    /></${Card}>
    <${Card} title=${text('measure.engagements')} value=${formats.count(sums.engagements)}
      ><${ChangeLabel} now=${sums.engagements} growth=${sums.day.engagements} period=${period}
    /></${Card}>
    <${Card}
      title=${text('measure.rate')}
      value=${sums.views > 0 ? formats.percent(sums.engagements / sums.views) : '–'}
      >${text('measure.ofAllViews')}</${Card}
    >
    <${Card} title=${text('frame.campaigns')} value=${formats.count(rows.length)}
      >${text('videos.count', { count: rows.reduce((all, row) => all + row.videos.length, 0) })}</${Card}
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
          <th class="wide"><span class="hidden">${text('frame.compare')}</span></th>
          ${COLUMNS.map(
            ([column, title, kind]) =>
              html`<th scope="col" class=${kind} aria-sort=${order(column)} key=${column}>
                <button class="sort" onClick=${() => show({ sort: getNextSort(query.sort, column) })}>
                  ${title}<span aria-hidden="true">${' '}${arrow[order(column)]}</span>
                </button>
              </th>`,
          )}
          <th scope="col" class="wide">${text('range.7d')}</th>
          <th scope="col" class="wide number">${text('list.asOf')}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${CampaignRow} key=${row.id} row=${row} isChosen=${chosen.includes(row.id)} choose=${choose} />`)}
      </tbody>
    </table>
  </div>`
}
