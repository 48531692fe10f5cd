import { useState } from 'preact/hooks'
import { listLinks, type LinkResource } from '../api.ts'
import { useChange, useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { LinkRows } from '../parts/link-rows.ts'
import { usePageState } from '../page-state.ts'

/** The share links of all campaigns, deleted ones included. */
export function ClientLinks() {
  useTitle('Client links')
  const { session } = usePageState()
  const first = useLoaded(() => listLinks(), [])
  const paging = useChange()
  const [later, setLater] = useState<{ readonly links: readonly LinkResource[]; readonly next?: string } | undefined>()
  const links = [...(first.value?.links ?? []), ...(later?.links ?? [])]
  const next = later ? later.next : first.value?.next
  async function readMore() {
    const page = await listLinks(next)
    setLater({ ...page, links: [...(later?.links ?? []), ...page.links] })
  }
  function reload() {
    setLater(undefined)
    first.reload()
  }
  return html`<div class="head"><h1>Client links</h1></div>
    <p class="quiet">
      Everyone who has a link sees its campaign until the link expires, you revoke it, or the campaign is deleted.
    </p>
    <${ErrorMessage} text=${first.fault ?? paging.fault} />
    <${LinkRows} links=${links} canChange=${session.role === 'editor'} hasNames onRevoked=${reload} />
    ${first.value && links.length === 0 && html`<p class="quiet none">No link is valid. Create one on the page of a campaign.</p>`}
    ${next !== undefined && html`<p class="more"><button disabled=${paging.isBusy} onClick=${() => paging.run(readMore)}>Show more</button></p>`}`
}
