import type { EditSums, EditTotals, Measure } from '../core/growth.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'

/** The effect of edits on a sum, in words. */
export function describeEdits({ added, removed }: EditTotals, measure: Measure): string[] {
  const describe = (
    edit: EditSums,
    videos: 'edits.videosAdded' | 'edits.videosRemoved',
    counts: 'edits.countsAdded' | 'edits.countsRemoved',
  ) => {
    const value = formats.count(edit[measure])
    return edit.videos === 0 ? text(counts, { value }) : text(videos, { count: edit.videos, value })
  }
  return [
    ...(added ? [describe(added, 'edits.videosAdded', 'edits.countsAdded')] : []),
    ...(removed ? [describe(removed, 'edits.videosRemoved', 'edits.countsRemoved')] : []),
  ]
}

/** Edits within a window. They are not part of its growth. */
export function EditNotes({ edits, measure }: { edits: EditTotals; measure: Measure }) {
  return html`${describeEdits(edits, measure).map((words) => html`<span class="edit" key=${words}>${words}</span>`)}`
}
