import type { Paste } from '../core/read-paste.ts'
import { html } from '../html.ts'

const MAX_SHOWN = 8

/** Lists the pasted words that are not videos, so that the user notices a missing video. */
export function PasteRest({ paste: { rest } }: { paste: Paste }) {
  if (rest.length === 0) return null
  const more = rest.length - MAX_SHOWN
  return html`<p class="quiet" role="status" data-rest=${rest.length}>
    Not videos: ${rest.slice(0, MAX_SHOWN).map((word, i) => html`${i > 0 && ', '}<bdi>${word.slice(0, 80)}</bdi>`)}
    ${more > 0 && ` and ${more} more`}. If one of these is a video, paste its whole link.
  </p>`
}
