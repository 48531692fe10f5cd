import type { CollectionRow } from '@influencer-stats/stats/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { getNextSort, type HomeQuery } from '../../core/home-query.ts'
import { html } from '../../html.ts'
import { text } from '../../texts/texts.ts'
import { CampaignRow } from './campaign-row.ts'
import { MAX_WHOLE, type CampaignSlot } from './use-campaigns.ts'

const COLUMNS = [
  ['name', text('list.campaign'), ''],
  ['impressions', text('measure.views'), 'number'],
  ['24h', text('range.24h'), 'number wide'],
  ['engagements', text('measure.engagements'), 'number wide'],
  ['rate', text('list.rate'), 'number wide'],
] as const
/** Columns that a phone shows, too: a wider cell would create empty columns there. */
const COLUMN_COUNT = 3
/** Rows that are rendered above and below the visible ones. */
const OVERSCAN = 12
/** The rendered range changes in steps of this many rows. */
const STEP = 4

interface CampaignTableProps {
  readonly rows: readonly CampaignSlot[]
  readonly query: HomeQuery
  readonly chosen: ReadonlySet<string>
  choose(row: CollectionRow): void
  /** Selects all campaigns that are read, or none. */
  chooseAll(isChosen: boolean): void
  show(change: Partial<HomeQuery>): void
  need(first: number, last: number): void
}

/** The list of campaigns. Of a long list it renders the visible rows, which then all have the same height. */
export function CampaignTable({ rows, query, chosen, choose, chooseAll, show, need }: CampaignTableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  const isVirtual = rows.length > MAX_WHOLE
  const { first, last, focused, height } = useVisibleRows(body, isVirtual ? rows.length : undefined)
  useEffect(() => {
    if (isVirtual) need(first, last)
  }, [isVirtual, first, last, rows])

  const order = (column: string) =>
    query.sort === column ? 'ascending' : query.sort === `-${column}` ? 'descending' : 'none'
  const arrow = { ascending: '↑', descending: '↓', none: '' }
  const chosenCount = rows.reduce((sum, row) => sum + (row && chosen.has(row.id) ? 1 : 0), 0)
  const checkAll = (box: HTMLInputElement | null) => {
    if (box) box.indeterminate = chosenCount > 0 && chosenCount < rows.length
  }

  const seen = new Set<string>()
  const renderRow = (index: number) => {
    const row = rows[index]
    // While the list changes, two pages may contain the same campaign.
    if (!row || seen.has(row.id))
      return html`<tr key=${`slot ${index}`} class="unread-row" aria-rowindex=${index + 2} data-index=${index}>
        <td colspan=${COLUMN_COUNT}>${text('frame.loading')}</td>
      </tr>`
    seen.add(row.id)
    return html`<${CampaignRow}
      key=${row.id}
      row=${row}
      index=${index}
      isChosen=${chosen.has(row.id)}
      choose=${choose}
    />`
  }
  const renderGap = (count: number, key: string) =>
    count > 0 &&
    html`<tr key=${key} class="gap" aria-hidden="true">
      <td colspan=${COLUMN_COUNT} style=${{ height: `${count * height}px` }}></td>
    </tr>`
  const shown = isVirtual ? listShownRows({ first, last, focused, total: rows.length }) : [...rows.keys()]
  return html`<div class="panel">
    <table class=${isVirtual ? 'campaigns virtual' : 'campaigns'} aria-rowcount=${rows.length + 1}>
      <thead>
        <tr aria-rowindex="1">
          <th class="choose">
            <input
              type="checkbox"
              aria-label=${text('list.selectAll')}
              ref=${checkAll}
              checked=${chosenCount > 0 && chosenCount === rows.length}
              onChange=${(event: Event) => chooseAll((event.target as HTMLInputElement).checked)}
            />
          </th>
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
      <tbody ref=${body} onKeyDown=${moveFocus}>
        ${shown.flatMap((index, i) => [renderGap(index - (shown[i - 1] ?? -1) - 1, `gap ${i === 0 ? 'first' : shown[i - 1]}`), renderRow(index)])}
        ${renderGap(rows.length - 1 - (shown.at(-1) ?? -1), 'gap last')}
      </tbody>
    </table>
  </div>`
}

/** The arrow keys move from the name of a campaign to that of the next or the previous one. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const row = (event.target as Element).closest?.('tr')
  if (step === undefined || !row || !(event.target as Element).matches('a.name')) return
  const next = row.parentElement!.querySelector<HTMLElement>(
    `tr[data-index="${Number(row.dataset.index) + step}"] a.name`,
  )
  if (!next) return
  event.preventDefault()
  next.focus()
}

interface VisibleRows {
  /** The rendered range. */
  readonly first: number
  readonly last: number
  /** The row that has the focus. It stays rendered, because its removal would end the focus. */
  readonly focused: number | undefined
  /** Height of a row (px). */
  readonly height: number
}

/** Follows the rows of a long list that the window shows. @param total number of rows; undefined for a short list */
function useVisibleRows(body: { current: HTMLTableSectionElement | null }, total: number | undefined): VisibleRows {
  const [visible, setVisible] = useState<VisibleRows>({ first: 0, last: 40, focused: undefined, height: 64 })
  useEffect(() => {
    if (total === undefined) return
    let frame: number | undefined
    function update(): void {
      frame = undefined
      if (!body.current) return
      const height = Number.parseFloat(getComputedStyle(body.current).getPropertyValue('--row-height'))
      const { top } = body.current.getBoundingClientRect()
      const begin = Math.floor(-top / height / STEP) * STEP - OVERSCAN
      const end = Math.ceil((innerHeight - top) / height / STEP) * STEP + OVERSCAN
      const first = Math.max(0, Math.min(begin, total! - 1))
      const last = Math.max(first, Math.min(end, total! - 1))
      const index = document.activeElement?.closest<HTMLElement>('tr[data-index]')?.dataset.index
      const focused = index === undefined ? undefined : Number(index)
      setVisible((before) =>
        before.first === first && before.last === last && before.focused === focused && before.height === height
          ? before
          : { first, last, focused, height },
      )
    }
    const updateSoon = () => (frame ??= requestAnimationFrame(update))
    update()
    const ending = new AbortController()
    const options = { signal: ending.signal, passive: true }
    addEventListener('scroll', updateSoon, options)
    addEventListener('resize', updateSoon, options)
    addEventListener('focusin', updateSoon, options)
    return () => {
      ending.abort()
      if (frame !== undefined) cancelAnimationFrame(frame)
    }
  }, [total])
  return visible
}

/** The rows of a long list to render, in ascending order: a range, and the row that has the focus. */
function listShownRows({
  first,
  last,
  focused,
  total,
}: {
  readonly first: number
  readonly last: number
  readonly focused?: number | undefined
  readonly total: number
}): number[] {
  const rows: number[] = []
  if (focused !== undefined && focused < first) rows.push(focused)
  for (let index = first; index <= Math.min(last, total - 1); index++) rows.push(index)
  if (focused !== undefined && focused > last && focused < total) rows.push(focused)
  return rows
}
