import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { CollectionRow } from '@influencer-stats/stats/client'
import { ARCHIVE, changeMany, DELETE, UNARCHIVE, type BulkAction } from '../../bulk.ts'
import { stats } from '../../api.ts'
import { getTitle } from '../../core/names.ts'
import { useChange } from '../../hooks.ts'
import { html } from '../../html.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { go } from '../../router.ts'
import { text } from '../../texts/texts.ts'

/** Maximum length of a name in stats (characters). */
const MAX_NAME_LENGTH = 200

/** A copy of a campaign, and its archive and deletion with Undo. @param onChanged called after a change that keeps the campaign */
export function CampaignActions({ row, onChanged }: { row: CollectionRow; onChanged(): void }) {
  const { id, archived } = row
  const change = useChange()
  const make = (action: BulkAction, then: () => void) =>
    change.run(async () => void ((await changeMany(action, [id])) && then()))
  const duplicate = () =>
    change.run(async () => {
      const name = text('campaign.copyName', { name: getTitle(row) }).slice(0, MAX_NAME_LENGTH)
      const copy = await stats.duplicate(id, name)
      if (!copy) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
      go(`/campaigns/${copy.id}`)
    })
  return html`<div class="apart">
    <div class="actions">
      <button type="button" disabled=${change.isBusy} onClick=${duplicate}>${text('campaign.duplicate')}</button>
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
