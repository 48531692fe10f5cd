import { html } from '../html.ts'
import { removeNow, undo, UNDO_MS, usePendingRemovals, type PendingRemoval } from '../pending-removals.ts'

/** The pending removals, each with its Undo button. */
export function UndoList() {
  const removals = [...usePendingRemovals().values()]
  return html`<div class="undo-list" role="status">
    ${removals.map((removal) => html`<${RemovalRow} key=${removal.key} removal=${removal} />`)}
  </div>`
}

function RemovalRow({ removal: { key, name, kind, fault } }: { removal: PendingRemoval }) {
  const title = html`<bdi>${name}</bdi>`
  if (fault !== undefined)
    return html`<div class="undo">
      <p>${title} was not ${kind === 'video' ? 'removed' : 'deleted'}. ${fault}</p>
      <button onClick=${() => undo(key)}>Dismiss</button>
    </div>`
  return html`<div class="undo">
    <p>${kind === 'video' ? html`${title} will be removed. It counts until then.` : html`${title} will be deleted.`}</p>
    <button class="primary" onClick=${() => undo(key)}>Undo</button>
    <button onClick=${() => void removeNow(key)}>${kind === 'video' ? 'Remove now' : 'Delete now'}</button>
    <i class="time" style=${{ animationDuration: `${UNDO_MS}ms` }} aria-hidden="true"></i>
  </div>`
}
