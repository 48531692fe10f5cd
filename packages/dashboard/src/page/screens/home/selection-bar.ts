import { useState } from 'preact/hooks'
import { ARCHIVE, changeMany, DELETE, toTagAction, UNARCHIVE, type BulkAction } from '../../bulk.ts'
import { stats } from '../../api.ts'
import type { HomeQuery } from '../../core/home-query.ts'
import { useChange } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { text } from '../../texts/texts.ts'
import type { CampaignSlot } from './use-campaigns.ts'

const MAX_COMPARED = 6
const PAGE_SIZE = 200

interface SelectionBarProps {
  readonly chosen: readonly string[]
  readonly rows: readonly CampaignSlot[]
  readonly query: HomeQuery
  readonly canChange: boolean
  setChosen(change: (before: readonly string[]) => readonly string[]): void
  reload(): void
}

/** The changes of the selected campaigns. */
export function SelectionBar({ chosen, rows, query, canChange, setChosen, reload }: SelectionBarProps) {
  const change = useChange()
  const [tag, setTag] = useState('')
  const makeChange = (action: BulkAction, versions?: Record<string, string>) =>
    change.run(async () => {
      await changeMany(action, chosen, versions)
      setChosen(() => [])
      reload()
    })
  // A campaign that another person has changed since is not deleted.
  const readVersions = () => Object.fromEntries(rows.flatMap((row) => (row ? [[row.id, row.version]] : [])))
  async function addTag(event: Event) {
    event.preventDefault()
    const name = tag.trim()
    if (name && (await makeChange(toTagAction(name)))) setTag('')
  }
  const chooseWhole = () =>
    change.run(async () => {
      const ids = await listIds(query)
      setChosen(() => ids)
    })
  const canChooseMore = chosen.length < rows.length && rows.some((row) => !row)
  return html`<div class="selection" role="region" aria-label=${text('bulk.label')}>
    <b role="status">${text('bulk.count', { count: chosen.length })}</b>
    ${canChooseMore && html`<button class="link" disabled=${change.isBusy} onClick=${chooseWhole}>${text('bulk.all', { count: rows.length })}</button>`}
    ${
      chosen.length > 1 &&
      chosen.length <= MAX_COMPARED &&
      html`<a class="button" href=${`/compare?${chosen.map((id) => `c=${encodeURIComponent(id)}`).join('&')}`}
        >${text('list.compareCount', { count: chosen.length })}</a
      >`
    }
    ${
      canChange &&
      html`<form class="inline" onSubmit=${addTag}>
          <input
            aria-label=${text('bulk.tag')}
            placeholder=${text('bulk.tag')}
            maxlength="50"
            value=${tag}
            onInput=${onText(setTag)}
          />
          <button disabled=${change.isBusy || tag.trim() === ''}>${text('bulk.addTag')}</button>
        </form>
        <button disabled=${change.isBusy} onClick=${() => makeChange(query.isArchive ? UNARCHIVE : ARCHIVE)}>
          ${text(query.isArchive ? 'bulk.unarchive' : 'bulk.archive')}
        </button>
        <button class="danger" disabled=${change.isBusy} onClick=${() => makeChange(DELETE, readVersions())}>
          ${text('bulk.delete')}
        </button>`
    }
    <button class="link" onClick=${() => setChosen(() => [])}>${text('bulk.clear')}</button>
    <${ErrorMessage} text=${change.fault} />
  </div>`
}

/** Reads the ids of all campaigns that match a query. */
async function listIds({ q, tag, isArchive, sort }: HomeQuery): Promise<string[]> {
  const ids: string[] = []
  const options = {
    archived: isArchive ? 'true' : 'false',
    sort,
    limit: PAGE_SIZE,
    ...(q && { q }),
    ...(tag && { tag }),
  } as const
  for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const page = await stats.list({ ...options, ...(next !== undefined && { after: next }) })
    ids.push(...page.collections.map(({ id }) => id))
    next = page.next
  }
  return [...new Set(ids)]
}
