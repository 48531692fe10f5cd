import { dismissDone, undoDone, useDoneChanges, type DoneChange } from '../done-changes.ts'
import { html } from '../html.ts'
import { removeNow, undo, UNDO_MS, usePendingRemovals, type PendingRemoval } from '../pending-removals.ts'
import { rich, text } from '../texts/texts.ts'

/** The pending removals and the changes that were made, each with its Undo button. */
export function UndoList() {
  const removals = [...usePendingRemovals().values()]
  const changes = useDoneChanges()
  return html`<div class="undo-list" role="status">
    ${changes.map((change) => html`<${DoneRow} key=${`done ${change.key}`} change=${change} />`)}
    ${removals.map((removal) => html`<${RemovalRow} key=${removal.key} removal=${removal} />`)}
  </div>`
}

function DoneRow({ change }: { change: DoneChange }) {
  const { key, summary, fault, undo: canUndo } = change
  return html`<div class="undo">
    <p>${fault === undefined ? summary : text('undo.failed', { change: summary, reason: fault })}</p>
    ${canUndo && html`<button class="primary" onClick=${() => void undoDone(change)}>${text('undo.undo')}</button>`}
    <button onClick=${() => dismissDone(key)}>${text('undo.dismiss')}</button>
    ${fault === undefined && html`<i class="time" style=${{ animationDuration: `${UNDO_MS}ms` }} aria-hidden="true"></i>`}
  </div>`
}

function RemovalRow({ removal: { key, name, fault } }: { removal: PendingRemoval }) {
  const title = html`<bdi>${name}</bdi>`
  if (fault !== undefined)
    return html`<div class="undo">
      <p>${rich('undo.videoFailed', { name: title, fault })}</p>
      <button onClick=${() => undo(key)}>${text('undo.dismiss')}</button>
    </div>`
  return html`<div class="undo">
    <p>${rich('undo.videoLater', { name: title })}</p>
    <button class="primary" onClick=${() => undo(key)}>${text('undo.undo')}</button>
    <button onClick=${() => void removeNow(key)}>${text('undo.removeNow')}</button>
    <i class="time" style=${{ animationDuration: `${UNDO_MS}ms` }} aria-hidden="true"></i>
  </div>`
}
