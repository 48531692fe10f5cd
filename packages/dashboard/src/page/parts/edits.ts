import type { Edits, Measure } from '../core/growth.ts'
import { html } from '../html.ts'
import { formats } from '../session.ts'

/** What edits changed of a sum, in words. */
export function wordsForEdits({ added, removed }: Edits, measure: Measure): string[] {
  const words = (what: string, { videos }: { readonly videos: number }) =>
    videos === 0 ? `counts ${what}` : `${formats.count(videos)} ${videos === 1 ? 'video' : 'videos'} ${what}`
  return [
    ...(added ? [`${words('added', added)}: ${formats.count(added[measure])}`] : []),
    ...(removed ? [`${words('removed', removed)}: ${formats.count(removed[measure])}`] : []),
  ]
}

/** Edits within a window, apart from its growth. */
export function EditNotes({ edits, measure }: { edits: Edits; measure: Measure }) {
  return html`${wordsForEdits(edits, measure).map((text) => html`<span class="edit" key=${text}>${text}</span>`)}`
}
