import type { EditTotals, Measure } from '../core/growth.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'

/** The effect of edits on a sum, in words. */
export function describeEdits({ added, removed }: EditTotals, measure: Measure): string[] {
  const words = (what: string, { videos }: { readonly videos: number }) =>
    videos === 0 ? `counts ${what}` : `${formats.count(videos)} ${videos === 1 ? 'video' : 'videos'} ${what}`
  return [
    ...(added ? [`${words('added', added)}: ${formats.count(added[measure])}`] : []),
    ...(removed ? [`${words('removed', removed)}: ${formats.count(removed[measure])}`] : []),
  ]
}

/** Edits within a window. They are not part of its growth. */
export function EditNotes({ edits, measure }: { edits: EditTotals; measure: Measure }) {
  return html`${describeEdits(edits, measure).map((text) => html`<span class="edit" key=${text}>${text}</span>`)}`
}
