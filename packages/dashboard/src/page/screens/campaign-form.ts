import type { CollectionRow } from '@influencer-stats/stats/client'
import { stats } from '../api.ts'
import { tagsIn } from '../core/pasted.ts'
import { useChange } from '../hooks.ts'
import { html } from '../html.ts'
import { Fault } from '../parts/dialog.ts'

/** What a campaign says of itself. */
export function CampaignForm({ row, onDone }: { row: CollectionRow; onDone(): void }) {
  const change = useChange()
  async function submit(event: SubmitEvent) {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const text = (name: string) => String(form.get(name) ?? '').trim() || null
    const cost = text('cost')
    const patch = {
      name: text('name'),
      tags: tagsIn(text('tags') ?? ''),
      from: text('from'),
      to: text('to'),
      cost: cost === null ? null : Number(cost),
      currency: text('currency')?.toUpperCase() ?? null,
    }
    if (await change.run(() => stats.patch(row.id, patch))) onDone()
  }
  return html`<form class="form" onSubmit=${submit}>
    <label>Name <input name="name" maxlength="200" defaultValue=${row.name ?? ''} /></label>
    <label
      ><span>Tags <span class="quiet">(with commas)</span></span>
      <input name="tags" defaultValue=${row.tags?.join(', ') ?? ''}
    /></label>
    <div class="pair">
      <label>From <input type="date" name="from" defaultValue=${row.from ?? ''} /></label>
      <label>To <input type="date" name="to" defaultValue=${row.to ?? ''} /></label>
    </div>
    <div class="pair">
      <label>Cost <input type="number" name="cost" min="0" step="any" defaultValue=${row.cost ?? ''} /></label>
      <label
        >Currency <input name="currency" maxlength="3" placeholder="EUR" defaultValue=${row.currency ?? ''}
      /></label>
    </div>
    <${Fault} text=${change.fault} />
    <div class="actions"><button class="primary" disabled=${change.isBusy}>Save</button></div>
  </form>`
}
