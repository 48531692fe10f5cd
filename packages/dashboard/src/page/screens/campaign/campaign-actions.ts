import type { CollectionRow } from '@influencer-stats/stats/client'
import { ARCHIVE, changeMany, DELETE, UNARCHIVE, type BulkAction } from '../../bulk.ts'
import { useChange } from '../../hooks.ts'
import { html } from '../../html.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { go } from '../../router.ts'
import { text } from '../../texts/texts.ts'

/** Changes of a whole campaign, each with Undo. @param onChanged called after a change that keeps the campaign */
export function CampaignActions({ row: { id, archived }, onChanged }: { row: CollectionRow; onChanged(): void }) {
  const change = useChange()
  const make = (action: BulkAction, then: () => void) =>
    change.run(async () => void ((await changeMany(action, [id])) && then()))
  return html`<div class="apart">
    <div class="actions">
      <button type="button" disabled=${change.isBusy} onClick=${() => make(archived ? UNARCHIVE : ARCHIVE, onChanged)}>
        ${text(archived ? 'bulk.unarchive' : 'bulk.archive')}
      </button>
      <button type="button" class="danger" disabled=${change.isBusy} onClick=${() => make(DELETE, () => go('/'))}>
        ${text('campaign.delete')}
      </button>
    </div>
    <p class="quiet">${text('campaign.deleteNote')}</p>
    <${ErrorMessage} text=${change.fault} />
  </div>`
}
