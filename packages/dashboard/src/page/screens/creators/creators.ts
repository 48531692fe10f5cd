import type { Creator, CreatorPage, CreatorSort } from '@influencer-stats/stats/client'
import { useEffect, useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { readCreatorsQuery, writeCreatorsQuery, type CreatorsQuery } from '../../core/listing/creators-query.ts'
import { useChange, useLast, useLoaded, useTitle } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { SearchField } from '../../parts/search-field.ts'
import { SortHeader } from '../../parts/sort-header.ts'
import { getEntryState, go, saveState, type PageLocation } from '../../router.ts'
import { text } from '../../texts/texts.ts'
import { useRefresh } from '../../use-refresh.ts'
import { CreatorName, formatMoney, formatRate, formatSum } from './creator-name.ts'

const PAGE_SIZE = 50

/** The creators of all campaigns. The server orders and filters them. */
export function Creators({ pageLocation }: { pageLocation: PageLocation }) {
  useTitle(text('creators.title'))
  const query = readCreatorsQuery(pageLocation.search)
  const key = JSON.stringify(query)
  const [count, setCount] = useState(() => getEntryState('shownCreators', PAGE_SIZE))
  const page = useLoaded(() => readPages(query, count), [key], [count])
  useRefresh(page.reload)
  const shown = useLast(page.value)
  const paging = useChange()
  useEffect(() => saveState({ shownCreators: count }), [count])

  function show(change: Partial<CreatorsQuery>): void {
    setCount(PAGE_SIZE)
    go(`/creators${writeCreatorsQuery({ ...query, ...change })}`, { replace: true })
  }

  if (shown?.total === 0 && !query.q)
    return html`<section class="empty">
      <h1>${text('creators.first')}</h1>
      <p class="quiet">${text('creators.firstNote')}</p>
    </section>`

  return html`<div class="head">
      <div>
        <h1>${text('creators.title')}</h1>
        ${shown && html`<p class="quiet facts" role="status">${text('creators.total', { count: shown.total })}</p>`}
      </div>
      <div class="tools">
        <${SearchField}
          q=${query.q}
          label=${text('creators.search')}
          placeholder=${text('creators.searchShort')}
          onChange=${(q: string) => show({ q })}
        />
      </div>
    </div>
    <${ErrorMessage} text=${page.fault ?? paging.fault} />
    ${shown && shown.creators.length > 0 && html`<${CreatorTable} rows=${shown.creators} sort=${query.sort} onSort=${(sort: CreatorSort) => show({ sort })} />`}
    ${shown?.total === 0 && html`<p class="quiet none">${text('creators.noMatch')}</p>`}
    ${!shown && !page.fault && html`<p class="quiet" role="status">${text('frame.loading')}</p>`}
    ${shown?.next && html`<p class="more"><button disabled=${page.isLoading} onClick=${() => setCount((before) => before + PAGE_SIZE)}>${text('frame.showMore')}</button></p>`}`
}

/** Reads pages until there are `count` rows, or all. */
async function readPages({ sort, q }: CreatorsQuery, count: number): Promise<CreatorPage> {
  const options = { sort, limit: PAGE_SIZE, ...(q && { q }) }
  let page = await stats.listCreators(options)
  let { creators } = page
  while (page.next && creators.length < count) {
    page = await stats.listCreators({ ...options, after: page.next })
    creators = [...creators, ...page.creators]
  }
  return { ...page, creators }
}

interface CreatorTableProps {
  readonly rows: readonly Creator[]
  readonly sort: string
  onSort(sort: string): void
}

function CreatorTable({ rows, sort, onSort }: CreatorTableProps) {
  const head = (column: string, title: string, kind = 'number wide') =>
    html`<${SortHeader} column=${column} title=${title} sort=${sort} kind=${kind} onChange=${onSort} />`
  return html`<div class="panel">
    <table class="creators">
      <thead>
        <tr>
          <${SortHeader}
            column="name"
            title=${text('creators.creator')}
            sort=${sort}
            isText=${true}
            onChange=${onSort}
          />
          ${head('subscribers', text('creators.subscribers'))} ${head('campaigns', text('creators.campaigns'))}
          ${head('videos', text('videos.title'))} ${head('impressions', text('measure.views'), 'number')}
          ${head('engagements', text('measure.engagements'))} ${head('rate', text('creators.rate'))}
          ${head('perThousandViews', text('creators.perThousand'))}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${CreatorRow} key=${row.id} row=${row} />`)}
      </tbody>
    </table>
    ${rows.some(({ costs }) => costs) && html`<p class="quiet note">${text('creators.costNote')}</p>`}
  </div>`
}

function CreatorRow({ row }: { row: Creator }) {
  const { subscribers, hidesSubscribers, campaignCount, rate, costs, fees } = row
  const known = subscribers === undefined ? '–' : formats.count(subscribers)
  return html`<tr>
    <th scope="row"><${CreatorName} creator=${row} hasColumn=${true} /></th>
    <td class="number wide">
      ${hidesSubscribers ? html`<span class="quiet">${text('creators.hiddenSubscribers')}</span>` : known}
    </td>
    <td class="number wide">${formats.count(campaignCount)}</td>
    <td class="number wide">${formats.count(row.stats.videos)}</td>
    <td class="number">${formatSum(row.stats, row.stats.impressions)}</td>
    <td class="number wide">${formatSum(row.stats, row.stats.engagements)}</td>
    <td class="number wide">${formatRate(rate)}</td>
    <td class="number wide">${formatMoney(costs?.perThousandViews, fees?.[0]?.currency)}</td>
  </tr>`
}
