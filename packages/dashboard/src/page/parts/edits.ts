import { describeEdits } from '../core/counts.ts'
import type { EditTotals, Measure } from '../core/growth.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'

/** Edits within a window. They are not part of its growth. */
export function EditNotes({ edits, measure }: { edits: EditTotals; measure: Measure }) {
  return html`${describeEdits(edits, measure, formats.count).map((words) => html`<span class="edit" key=${words}>${words}</span>`)}`
}

/** Edits at one time (s since 1970), in words: a mark of a chart. */
interface EditMark {
  readonly at: number
  readonly text: string
}

/** The edits of a history. The first point has no predecessor to compare with. */
export const listEdits = (points: readonly (EditTotals & { readonly at: string })[], measure: Measure): EditMark[] =>
  points.slice(1).flatMap((point) => {
    const texts = describeEdits(point, measure, formats.count)
    return texts.length > 0 ? [{ at: Date.parse(point.at) / 1_000, text: texts.join('; ') }] : []
  })

/** The edits below the chart that marks them. */
export const EditList = ({ edits }: { edits: readonly EditMark[] }) =>
  edits.length > 0
    ? html`<ul class="edits" aria-label=${text('chart.edits')}>
        ${edits.map(({ at, text: words }) => html`<li key=${at}>${formats.moment(at * 1_000)}: ${words}</li>`)}
      </ul>`
    : null
