import type { CampaignsImport } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { stats } from '../api.ts'
import { useChange } from '../hooks.ts'
import { html } from '../html.ts'
import { findText, text } from '../texts/texts.ts'
import { Dialog, ErrorMessage, useUnsaved } from './dialog.ts'

type CampaignResult = CampaignsImport['campaigns'][number]

interface ChosenFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly plan: CampaignsImport
}

interface CampaignImportProps {
  onClose(): void
  /** Called after campaigns were imported. */
  onImported(): void
}

const countChanges = ({ campaigns }: CampaignsImport): number =>
  campaigns.filter(({ state }) => state === 'new' || state === 'changed').length

/** A dialog that imports campaigns from a file, after it has shown what the import does. */
export function CampaignImport({ onClose, onImported }: CampaignImportProps) {
  return html`<${Dialog} title=${text('files.import')} onClose=${onClose}
    ><${ImportForm} onClose=${onClose} onImported=${onImported}
  /></${Dialog}>`
}

function ImportForm({ onClose, onImported }: CampaignImportProps) {
  const change = useChange()
  const [file, setFile] = useState<ChosenFile>()
  const [done, setDone] = useState<CampaignsImport>()
  const count = file ? countChanges(file.plan) : 0
  useUnsaved(count > 0 && !done)

  async function choose(event: Event) {
    const chosen = (event.currentTarget as HTMLInputElement).files?.[0]
    setFile(undefined)
    setDone(undefined)
    if (!chosen) return
    await change.run(async () => {
      const bytes = new Uint8Array(await chosen.arrayBuffer())
      setFile({ bytes, plan: await stats.importCampaigns(bytes, { dryRun: true }) })
    })
  }
  async function submit(event: Event) {
    event.preventDefault()
    await change.run(async () => setDone(await stats.importCampaigns(file!.bytes)))
    onImported()
  }

  const shown = done ?? file?.plan
  return html`<form class="form" onSubmit=${submit}>
    <label
      >${text('files.choose')}
      <input type="file" accept=".csv,.tsv,.txt,.xlsx" aria-describedby="import-note" onChange=${choose} />
    </label>
    <p id="import-note" class="quiet">${text('files.note')}</p>
    <p class="hidden" role="status">${change.isBusy && !shown ? text('files.reading') : ''}</p>
    ${shown && html`<${ImportResult} result=${shown} />`}
    <${ErrorMessage} text=${change.fault} />
    ${done && html`<p role="status">${text('files.done', { count: countChanges(done) })}</p>`}
    <div class="actions">
      ${
        done
          ? html`<button type="button" class="primary" onClick=${onClose}>${text('files.close')}</button>`
          : html`<button class="primary" disabled=${change.isBusy || count === 0}>
              ${file && count === 0 ? text('files.nothing') : text('files.importCount', { count })}
            </button>`
      }
    </div>
  </form>`
}

function ImportResult({ result: { campaigns, refused, invalid, unknownHeadings } }: { result: CampaignsImport }) {
  return html`${campaigns.length > 0 && html`<${ImportedCampaigns} campaigns=${campaigns} />`}
  ${refused.length > 0 && html`<${RefusedRows} rows=${refused} />`}
  ${
    invalid.length > 0 &&
    html`<p class="quiet lines">
      ${invalid.map(({ line, text: value }) => html`<span key=${`${line} ${value}`}>${text('files.invalid', { line: String(line), value })}</span>`)}
    </p>`
  }
  ${unknownHeadings.length > 0 && html`<p class="quiet">${text('preview.headings', { names: unknownHeadings.join(', ') })}</p>`}`
}

function ImportedCampaigns({ campaigns }: { campaigns: readonly CampaignResult[] }) {
  return html`<div class="preview" role="region" aria-label=${text('files.campaigns')} tabindex="0">
    <table class="plan">
      <tbody>
        ${campaigns.map(
          ({ line, id, name, state, videos, added, removed, posts, detail }) =>
            html`<tr key=${line} class=${`is-${state}`} data-state=${state}>
              <td>
                <bdi>${name ?? id}</bdi>
                ${detail && html`<span class="quiet below"><bdi>${detail}</bdi></span>`}
              </td>
              <td>
                ${text('files.videos', { count: videos })}
                ${state === 'changed' && added > 0 && ` ${text('files.added', { count: added })}`}
                ${posts > 0 && html`<span class="quiet below">${text('posts.count', { count: posts })}</span>`}
                ${removed > 0 && html` <b class="down">${text('files.removed', { count: removed })}</b>`}
              </td>
              <td>${text(`files.${state}`)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function RefusedRows({ rows }: { rows: CampaignsImport['refused'] }) {
  return html`<div class="preview" role="region" aria-label=${text('files.rows')} tabindex="0">
    <table>
      <tbody>
        ${rows.map(
          ({ line, text: content, reason }, i) =>
            html`<tr key=${i} class="is-refused" data-state="refused">
              <td class="number quiet">${line}</td>
              <td><bdi>${content}</bdi></td>
              <td>${findText(`refusal.${reason}`) ?? reason}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
