import { useState } from 'preact/hooks'
import { listLinks, makeLink } from '../../api.ts'
import { useChange, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { LinkRows } from '../../parts/link-rows.ts'
import { rich, text } from '../../texts/texts.ts'

const LIFETIME_DAYS = [7, 30, 90, 365]

/** The share links of this campaign. A link gives access only to this campaign. */
export function CampaignLinks({ id }: { id: string }) {
  const links = useLoaded(async () => (await listLinks(undefined, id)).links, [id])
  const change = useChange()
  const [days, setDays] = useState(30)
  const runChange = async (run: () => Promise<unknown>) => void ((await change.run(run)) && links.reload())
  return html`<p class="quiet">${rich('share.note', { all: (words) => html`<a href="/client-links">${words}</a>` })}</p>
    <div class="actions">
      <label class="inline"
        >${text('share.validFor')}
        <select name="days" value=${days} onChange=${onText((text) => setDays(Number(text)))}>
          ${LIFETIME_DAYS.map((one) => html`<option key=${one} value=${one} selected=${one === days}>${text('share.days', { count: one })}</option>`)}
        </select>
      </label>
      <button class="primary" disabled=${change.isBusy} onClick=${() => runChange(() => makeLink(id, days))}>
        ${text('share.create')}
      </button>
    </div>
    <${ErrorMessage} text=${change.fault ?? links.fault} />
    <${LinkRows} links=${links.value ?? []} canChange onRevoked=${links.reload} />`
}
