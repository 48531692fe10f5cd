import { useState } from 'preact/hooks'
import { listLinks, type LinkResource } from '../api.ts'
import { useChange, useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { LinkRows } from '../parts/link-rows.ts'
import { usePageState } from '../page-state.ts'
import { text } from '../texts/texts.ts'

/** The share links of all campaigns, deleted ones included. */
export function ClientLinks() {
  useTitle(text('links.title'))
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
  return html`<div class="head"><h1>${text('links.title')}</h1></div>
    <p class="quiet">${text('links.note')}</p>
    <${ErrorMessage} text=${first.fault ?? paging.fault} />
    <${LinkRows} links=${links} canChange=${session.role === 'editor'} hasNames onRevoked=${reload} />
    ${first.value && links.length === 0 && html`<p class="quiet none">${text('links.none')}</p>`}
    ${next !== undefined && html`<p class="more"><button disabled=${paging.isBusy} onClick=${() => paging.run(readMore)}>${text('frame.showMore')}</button></p>`}`
}
