import { html } from '../html.ts'
import { removeNow, undo, UNDO_MS, usePendingRemovals, type PendingRemoval } from '../pending-removals.ts'
import { rich, text } from '../texts/texts.ts'

/** The pending removals, each with its Undo button. */
export function UndoList() {
  const removals = [...usePendingRemovals().values()]
  return html`<div class="undo-list" role="status">
    ${removals.map((removal) => html`<${RemovalRow} key=${removal.key} removal=${removal} />`)}
  </div>`
}

function RemovalRow({ removal: { key, name, kind, fault } }: { removal: PendingRemoval }) {
  const title = html`<bdi>${name}</bdi>`
  const isVideo = kind === 'video'
  if (fault !== undefined)
    return html`<div class="undo">
      <p>${rich(isVideo ? 'undo.videoFailed' : 'undo.campaignFailed', { name: title, fault })}</p>
      <button onClick=${() => undo(key)}>${text('undo.dismiss')}</button>
    </div>`
  return html`<div class="undo">
    <p>${rich(isVideo ? 'undo.videoLater' : 'undo.campaignLater', { name: title })}</p>
    <button class="primary" onClick=${() => undo(key)}>${text('undo.undo')}</button>
    <button onClick=${() => void removeNow(key)}>${text(isVideo ? 'undo.removeNow' : 'undo.deleteNow')}</button>
    <i class="time" style=${{ animationDuration: `${UNDO_MS}ms` }} aria-hidden="true"></i>
  </div>`
}
