import { useState } from 'preact/hooks'
import { revokeLink, type LinkResource } from '../api.ts'
import { getTitle } from '../core/names.ts'
import { useChange } from '../hooks.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'
import { ErrorMessage } from './dialog.ts'

interface LinkRowsProps {
  readonly links: readonly LinkResource[]
  readonly canChange: boolean
  /** True if the links are of several campaigns: each row names its own. */
  readonly hasNames?: boolean
  onRevoked(): void
}

/** Share links, each with its address and state. */
export function LinkRows({ links, canChange, hasNames = false, onRevoked }: LinkRowsProps) {
  const change = useChange()
  const revoke = async (id: string) => void ((await change.run(() => revokeLink(id))) && onRevoked())
  return html`<${ErrorMessage} text=${change.fault} />
    <ul class=${hasNames && links.length > 0 ? 'links panel' : 'links'}>
      ${links.map((link) => html`<${LinkRow} key=${link.id} link=${link} hasNames=${hasNames} revoke=${canChange && (() => revoke(link.id))} />`)}
    </ul>`
}

const STATE_NOTES: Readonly<Record<LinkResource['state'], string>> = {
  valid: '',
  deleted: text('links.deleted'),
  unknown: text('links.unknown'),
}

function LinkRow({ link, hasNames, revoke }: { link: LinkResource; hasNames: boolean; revoke: false | (() => void) }) {
  const [isCopied, setCopied] = useState(false)
  const url = location.origin + link.path
  // Only a page on https, or on this machine, may write to the clipboard.
  const copy = () =>
    navigator.clipboard?.writeText(url).then(
      () => setCopied(true),
      () => {},
    )
  const title = getTitle({ id: link.campaign, name: link.name })
  const name =
    link.state === 'deleted'
      ? html`<bdi>${title}</bdi>`
      : html`<a href=${`/campaigns/${encodeURIComponent(link.campaign)}`}><bdi>${title}</bdi></a>`
  return html`<li>
    ${hasNames && html`<b>${name}</b>`}
    ${
      link.state !== 'deleted' &&
      html`<input
        class="address"
        readonly
        aria-label=${hasNames ? text('links.linkTo', { name: title }) : text('links.link')}
        value=${url}
        onFocus=${(event: Event) => (event.target as HTMLInputElement).select()}
      />`
    }
    ${link.state !== 'deleted' && navigator.clipboard && html`<button onClick=${copy}>${text(isCopied ? 'links.copied' : 'links.copy')}</button>`}
    ${revoke && html`<button class="danger" onClick=${revoke}>${text('links.revoke')}</button>`}
    <span class="quiet">${text('links.until', { day: formats.day(Date.parse(link.expires)) })}</span>
    ${STATE_NOTES[link.state] && html`<span class="quiet">${STATE_NOTES[link.state]}</span>`}
  </li>`
}
