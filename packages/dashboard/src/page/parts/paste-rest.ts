import type { Paste } from '../core/read-paste.ts'
import { html } from '../html.ts'
import { rich } from '../texts/texts.ts'

const MAX_SHOWN = 8

/** Lists the pasted words that are not videos, so that the user notices a missing video. */
export function PasteRest({ paste: { rest } }: { paste: Paste }) {
  if (rest.length === 0) return null
  const more = rest.length - MAX_SHOWN
  const words = html`${rest.slice(0, MAX_SHOWN).map((word, i) => html`${i > 0 && ', '}<bdi>${word.slice(0, 80)}</bdi>`)}`
  return html`<p class="quiet" role="status" data-rest=${rest.length}>
    ${more > 0 ? rich('paste.restMore', { words, more }) : rich('paste.rest', { words })}
  </p>`
}
