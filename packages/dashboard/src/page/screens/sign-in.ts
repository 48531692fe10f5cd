import { useState } from 'preact/hooks'
import { signIn } from '../api.ts'
import { useChange, useTitle } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { text } from '../texts/texts.ts'

/** The form for a token, if tokens are set. @param onDone called after a token was accepted */
export function SignIn({ onDone }: { onDone(): void }) {
  useTitle(text('signIn.title'))
  const [token, setToken] = useState('')
  const change = useChange()
  async function submit(event: Event) {
    event.preventDefault()
    if (await change.run(() => signIn(token.trim()))) onDone()
    else setToken('')
  }
  return html`<section class="empty narrow">
    <h1>${text('signIn.title')}</h1>
    <p class="quiet">${text('signIn.note')}</p>
    <form class="form" onSubmit=${submit}>
      <label
        >${text('signIn.token')}
        <input
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          value=${token}
          onInput=${onText(setToken)}
      /></label>
      <${ErrorMessage} text=${change.fault} />
      <div class="actions"><button class="primary" disabled=${change.isBusy}>${text('signIn.title')}</button></div>
    </form>
  </section>`
}
