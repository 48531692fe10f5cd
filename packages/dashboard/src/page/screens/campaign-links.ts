import { useState } from 'preact/hooks'
import { linksOf, makeLink, revokeLink, type Link } from '../api.ts'
import { useChange, useLoaded } from '../hooks.ts'
import { html } from '../html.ts'
import { Fault } from '../parts/dialog.ts'
import { formats } from '../session.ts'

const DAYS = [7, 30, 90, 365]

/** Links by which a client sees this campaign, and nothing else. */
export function CampaignLinks({ id }: { id: string }) {
  const links = useLoaded(() => linksOf(id), [id])
  const change = useChange()
  const [days, setDays] = useState(30)
  const changed = async (run: () => Promise<unknown>) => void ((await change.run(run)) && links.reload())
  return html`<p class="quiet">
      Whoever has the link sees this campaign's numbers, live, until the link expires or you revoke it: not what it
      costs, and no other campaign.
    </p>
    <div class="actions">
      <label class="inline"
        >Valid for
        <select
          name="days"
          value=${days}
          onChange=${(event: Event) => setDays(Number((event.target as HTMLSelectElement).value))}
        >
          ${DAYS.map((one) => html`<option key=${one} value=${one} selected=${one === days}>${one} days</option>`)}
        </select>
      </label>
      <button class="primary" disabled=${change.isBusy} onClick=${() => changed(() => makeLink(id, days))}>
        Make a link
      </button>
    </div>
    <${Fault} text=${change.fault ?? links.fault} />
    <ul class="links">
      ${(links.value ?? []).map((link) => html`<${Row} key=${link.id} link=${link} revoke=${() => changed(() => revokeLink(link.id))} />`)}
    </ul>`
}

function Row({ link, revoke }: { link: Link; revoke(): void }) {
  const [isCopied, setCopied] = useState(false)
  const url = location.origin + link.path
  // Only a page on https, or on this machine, may write to the clipboard.
  const copy = () =>
    navigator.clipboard?.writeText(url).then(
      () => setCopied(true),
      () => {},
    )
  return html`<li>
    <input
      class="address"
      readonly
      aria-label="Link"
      value=${url}
      onFocus=${(event: Event) => (event.target as HTMLInputElement).select()}
    />
    ${navigator.clipboard && html`<button onClick=${copy}>${isCopied ? 'Copied' : 'Copy'}</button>`}
    <button class="danger" onClick=${revoke}>Revoke</button>
    <span class="quiet">until ${formats.day(Date.parse(link.expires))}</span>
  </li>`
}
