import { useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { text } from '../texts/texts.ts'

/** The screen for unknown addresses. */
export function NotFound() {
  useTitle(text('notFound.page'))
  return html`<section class="empty">
    <h1>${text('notFound.title')}</h1>
    <p class="quiet">${text('notFound.note')}</p>
    <p><a class="button" href="/">${text('frame.campaigns')}</a></p>
  </section>`
}
