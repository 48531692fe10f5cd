import { useState } from 'preact/hooks'
import type { TrashedCollection } from '@influencer-stats/stats/client'
import { stats } from '../api.ts'
import { getTitle } from '../core/names.ts'
import { useChange, useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { Dialog, ErrorMessage } from '../parts/dialog.ts'
import { formats, usePageState } from '../page-state.ts'
import { rich, text } from '../texts/texts.ts'

const PAGE_SIZE = 100

/** The deleted campaigns, to restore or to delete for good. */
export function Trash() {
  useTitle(text('trash.title'))
  const { session } = usePageState()
  const [pages, setPages] = useState(1)
  const trash = useLoaded(() => readTrash(pages), [], [pages])
  const change = useChange()
  const [doomed, setDoomed] = useState<TrashedCollection | undefined>()
  const rows = trash.value?.collections ?? []
  const restore = async (id: string) => void ((await change.run(() => stats.restore(id))) && trash.reload())
  async function deleteForGood({ id, version }: TrashedCollection) {
    setDoomed(undefined)
    if (await change.run(() => stats.deleteForGood(id, { ifVersion: version }))) trash.reload()
  }
  const canChange = session.role === 'editor'
  return html`<div class="head">
      <div>
        <a class="back" href="/">${text('campaign.back')}</a>
        <h1>${text('trash.title')}</h1>
      </div>
    </div>
    <p class="quiet">${text('trash.note')}</p>
    <${ErrorMessage} text=${trash.fault ?? change.fault} />
    ${trash.value && rows.length === 0 && html`<p class="quiet none">${text('trash.none')}</p>`}
    ${!trash.value && !trash.fault && html`<p class="quiet" role="status">${text('frame.loading')}</p>`}
    ${
      rows.length > 0 &&
      html`<ul class="panel links trash">
        ${rows.map(
          (row) =>
            html`<li key=${row.id}>
              <b><bdi>${getTitle(row)}</bdi></b>
              <span class="quiet">
                ${text('videos.count', { count: row.videos.length })} ·${' '}
                ${text('trash.times', { deleted: formats.day(Date.parse(row.deleted)), expires: formats.day(Date.parse(row.expires)) })}
              </span>
              ${
                canChange &&
                html`<span class="tools">
                  <button
                    disabled=${change.isBusy}
                    aria-label=${text('trash.restoreOne', { name: getTitle(row) })}
                    onClick=${() => restore(row.id)}
                  >
                    ${text('trash.restore')}
                  </button>
                  <button
                    class="danger"
                    disabled=${change.isBusy}
                    aria-label=${text('trash.deleteOne', { name: getTitle(row) })}
                    onClick=${() => setDoomed(row)}
                  >
                    ${text('trash.delete')}
                  </button>
                </span>`
              }
            </li>`,
        )}
      </ul>`
    }
    ${trash.value?.hasMore && html`<p class="more"><button onClick=${() => setPages(pages + 1)}>${text('frame.showMore')}</button></p>`}
    ${
      doomed &&
      html`<${Dialog} title=${text('trash.delete')} onClose=${() => setDoomed(undefined)}>
        <p>${rich('trash.deleteNote', { name: html`<bdi>${getTitle(doomed)}</bdi>` })}</p>
        <div class="actions">
          <button class="danger" onClick=${() => deleteForGood(doomed)}>${text('trash.deleteNow')}</button>
          <button onClick=${() => setDoomed(undefined)}>${text('frame.cancel')}</button>
        </div>
      </${Dialog}>`
    }`
}

/** Reads the first pages of the trash. */
async function readTrash(pages: number) {
  const collections: TrashedCollection[] = []
  let next: string | undefined
  for (let i = 0; i < pages && (i === 0 || next !== undefined); i++) {
    const page = await stats.listTrash({ limit: PAGE_SIZE, ...(next !== undefined && { after: next }) })
    collections.push(...page.collections)
    next = page.next
  }
  return { collections, hasMore: next !== undefined }
}
