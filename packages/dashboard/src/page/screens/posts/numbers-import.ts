import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { ImportedNumbersReply, ImportedRow, PostResource } from '@influencer-stats/stats/client'
import { useEffect, useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { useChange, useLast, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { findText, text } from '../../texts/texts.ts'
import { getPostName } from './post-name.ts'

/** Delay after the last key press before a text is read (ms). */
const TYPING_DELAY_MS = 250
/** Maximum number of rows that are shown. */
const MAX_SHOWN = 1_000

interface NumbersImportProps {
  readonly campaign: string
  readonly posts: readonly PostResource[]
  reload(): void
  onDone(): void
}

/** Stores the numbers of a pasted sheet or a CSV file, after it has shown what becomes of each row. */
export function NumbersImport({ campaign, posts, reload, onDone }: NumbersImportProps) {
  const [pasted, setPasted] = useState('')
  const [settled, setSettled] = useState('')
  const change = useChange()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(pasted), TYPING_DELAY_MS)
    return () => clearTimeout(timer)
  }, [pasted])
  const store = async (csv: string, isDryRun: boolean): Promise<ImportedNumbersReply | undefined> => {
    if (csv.trim() === '') return undefined
    const result = await stats.importNumbers(campaign, csv, isDryRun)
    if (!result) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
    return result
  }
  const preview = useLoaded(() => store(settled, true), [settled, campaign])
  const last = useLast(preview.value)
  const shown = settled.trim() === '' ? undefined : (preview.value ?? (preview.isLoading ? last : undefined))
  const count = settled === pasted ? (preview.value?.stored ?? 0) : 0
  useUnsaved(pasted.trim() !== '')

  async function choose(event: Event) {
    const file = (event.currentTarget as HTMLInputElement).files?.[0]
    if (file) setPasted(await file.text())
  }
  async function submit(event: SubmitEvent) {
    event.preventDefault()
    if (count === 0 || !(await change.run(() => store(settled, false)))) return
    reload()
    onDone()
  }

  return html`<form class="form" onSubmit=${submit}>
    <label
      >${text('posts.sheet')}
      <textarea
        name="numbers"
        rows="5"
        aria-describedby="numbers-note"
        value=${pasted}
        onInput=${onText(setPasted)}
      ></textarea>
    </label>
    <label>${text('posts.file')} <input type="file" accept=".csv,.tsv,.txt" onChange=${choose} /></label>
    <p id="numbers-note" class="quiet">${text('posts.sheetNote')}</p>
    ${shown && html`<${ImportedRows} result=${shown} posts=${posts} />`}
    <${ErrorMessage} text=${change.fault ?? preview.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy || count === 0}>${text('posts.storeCount', { count })}</button>
    </div>
  </form>`
}

interface ImportedRowsProps {
  readonly result: ImportedNumbersReply
  readonly posts: readonly PostResource[]
}

function ImportedRows({ result: { rows, unknownHeadings }, posts }: ImportedRowsProps) {
  const names = new Map(posts.map((post) => [post.id, getPostName(post)]))
  const isRefused = ({ state }: ImportedRow) => state === 'refused'
  const sorted = [...rows.filter(isRefused), ...rows.filter((row) => !isRefused(row))]
  const more = sorted.length - MAX_SHOWN
  return html`<div class="preview" role="region" aria-label=${text('posts.rows')} tabindex="0">
      <table>
        <tbody>
          ${sorted.slice(0, MAX_SHOWN).map(
            (row) =>
              html`<tr key=${row.line} class=${`is-${row.state}`} data-state=${row.state}>
                <td class="number quiet">${row.line}</td>
                <td><bdi>${'post' in row ? (names.get(row.post) ?? row.post) : row.detail}</bdi></td>
                <td>
                  ${'reason' in row ? (findText(`numbers.${row.reason}`) ?? row.reason) : text(`numbers.${row.state}`)}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more > 0 && html`<p class="quiet">${text('preview.more', { count: more })}</p>`}
    ${unknownHeadings.length > 0 && html`<p class="quiet">${text('preview.headings', { names: unknownHeadings.join(', ') })}</p>`}`
}
