import { useEffect, useState } from 'preact/hooks'

/** Where the page is. */
export interface Place {
  readonly path: string
  readonly search: string
}

const listeners = new Set<() => void>()
const here = (): Place => ({ path: location.pathname, search: location.search })
const tell = () => {
  for (const listener of listeners) listener()
}

addEventListener('popstate', tell)

/** Goes to another screen, or to another state of this one. */
export function go(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  if (!replace) scrollTo(0, 0)
  tell()
}

/** Links of this page are followed without loading it anew. */
document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a')
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (!link || !isPlain || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  if (link.hash && link.pathname === location.pathname) return
  event.preventDefault()
  go(link.pathname + link.search)
})

export function usePlace(): Place {
  const [place, setPlace] = useState(here)
  useEffect(() => {
    const follow = () => setPlace(here())
    listeners.add(follow)
    return () => void listeners.delete(follow)
  }, [])
  return place
}
