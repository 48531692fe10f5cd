import { useTitle } from '../hooks.ts'
import { html } from '../html.ts'

/** The screen for unknown addresses. */
export function NotFound() {
  useTitle('Not found')
  return html`<section class="empty">
    <h1>There is nothing at this address</h1>
    <p class="quiet">Check that you copied all of it, or go to the list of campaigns.</p>
    <p><a class="button" href="/">Campaigns</a></p>
  </section>`
}
