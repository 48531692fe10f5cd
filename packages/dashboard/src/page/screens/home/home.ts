import type { CollectionRow } from '@influencer-stats/stats/client'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { readHomeQuery, writeHomeQuery, type HomeQuery } from '../../core/home-query.ts'
import { undone } from '../../done-changes.ts'
import { useTitle } from '../../hooks.ts'
import { html } from '../../html.ts'
import { onDemand } from '../../on-demand.ts'
import { Dialog, ErrorMessage } from '../../parts/dialog.ts'
import { EMPTY_DRAFT, isEmptyDraft, NewCampaign, type CampaignDraft } from '../../parts/new-campaign.ts'
import { SearchField } from '../../parts/search-field.ts'
import { Tabs } from '../../parts/tabs.ts'
import { go, useEntryState, type PageLocation } from '../../router.ts'
import { usePageState } from '../../page-state.ts'
import { rich, text } from '../../texts/texts.ts'
import { CampaignTable } from './campaign-table.ts'
import { HomeTotals } from './home-totals.ts'
import { SelectionBar } from './selection-bar.ts'
import { ViewList } from './view-list.ts'
import { MAX_WHOLE, useCampaigns } from './use-campaigns.ts'

const CampaignImport = onDemand(async () => (await import('../../parts/campaign-import.ts')).CampaignImport)

/** The draft of a new campaign survives a change of the screen. */
let lastDraft = EMPTY_DRAFT

export function Home({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle(text('frame.campaigns'))
  const query = readHomeQuery(pageLocation.search)
  const { session } = usePageState()
  const { rows, isRead, isWhole, fault, need, reload } = useCampaigns(query)
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

  const chosenSet = useMemo(() => new Set(chosen), [chosen])
  useEffect(() => undone.add(reload), [reload])

  // Rows render again only if their own values change, so they get the same function each time.
  const choose = useCallback(
    ({ id }: CollectionRow) =>
      setChosen((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before, id])),
    [setChosen],
  )

  const importing = isImporting && html`<${CampaignImport} onClose=${() => setImporting(false)} onImported=${reload} />`

  if (isRead && rows.length === 0 && !isImporting && !query.q && !query.tag && !query.isArchive)
    return html`<section class="empty">
      <h1>${text('list.first')}</h1>
      <p class="quiet">${text('list.firstNote')}</p>
      ${canChange ? newCampaign : html`<p>${text('list.none')}</p>`}
      ${canChange && html`<p class="files"><button onClick=${() => setImporting(true)}>${text('files.import')}</button></p>`}
      <p class="quiet">
        <a href="/?archived=true">${text('list.archive')}</a> · <a href="/trash">${text('trash.title')}</a>
      </p>
    </section>`

  const chooseAll = (isChosen: boolean) => setChosen(() => (isChosen ? rows.flatMap((row) => row?.id ?? []) : []))

  return html`<div class="head">
      <h1>${text('frame.campaigns')}</h1>
      <div class="tools">
        <${SearchField}
          q=${query.q}
          label=${text('list.search')}
          placeholder=${text('list.searchShort')}
          onChange=${(q: string) => show({ q })}
        />
        ${canChange && html`<button class="primary" onClick=${() => setMaking(true)}>${text('list.new')}</button>`}
      </div>
    </div>
    <div class="list-head">
      <${Tabs}
        label=${text('list.part')}
        options=${[
          ['active', text('list.active')],
          ['archive', text('list.archive')],
        ]}
        value=${query.isArchive ? 'archive' : 'active'}
        onChange=${(part: string) => show({ isArchive: part === 'archive' })}
      />
      <a href="/trash">${text('trash.title')}</a>
      ${
        query.tag &&
        html`<span>
          ${rich('list.tag', { tag: html`<bdi><b>${query.tag}</b></bdi>` })}${' '}
          <button class="link" onClick=${() => show({ tag: '' })}>${text('list.showAll')}</button>
        </span>`
      }
      <${ViewList} query=${query} canChange=${canChange} />
      ${isRead && html`<span class="quiet" role="status">${text('list.count', { count: rows.length })}</span>`}
    </div>
    ${query.isArchive && html`<p class="quiet filter">${text('list.archiveNote')}</p>`}
    <${ErrorMessage} text=${fault} />
    ${chosen.length > 0 && html`<${SelectionBar} chosen=${chosen} rows=${rows} query=${query} setChosen=${setChosen} canChange=${canChange} reload=${reload} />`}
    ${isWhole && rows.length > 1 && html`<${HomeTotals} rows=${rows} />`}
    ${rows.length > 0 && html`<${CampaignTable} rows=${rows} query=${query} chosen=${chosenSet} choose=${choose} chooseAll=${chooseAll} show=${show} need=${need} />`}
    ${rows.length > MAX_WHOLE && html`<p class="quiet">${text('list.findNote')}</p>`}
    ${isRead && rows.length === 0 && !isImporting && html`<p class="quiet none">${text(query.isArchive ? 'list.archiveEmpty' : 'list.noMatch')}</p>`}
    ${!isRead && !fault && html`<p class="quiet" role="status">${text('frame.loading')}</p>`}
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
