import { useCallback, useRef, useState } from 'preact/hooks'
import { Listeners, useListened } from './listeners.ts'

/** The current location of the page. */
export interface PageLocation {
  readonly path: string
  readonly search: string
}

const changes = new Listeners()
const readLocation = (): PageLocation => ({ path: location.pathname, search: location.search })

/**
 * Time for which the page continues to scroll to the restored position (ms). Content may load late, and until then the
 * page is too short for that position.
 */
const RESTORE_MS = 5_000
const SCROLL_SETTLED_MS = 200
const READER_EVENTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

// A browser would restore the position before the content exists. `restoreScroll` does it instead.
history.scrollRestoration = 'manual'

/** Adds values to the state of the current history entry. */
export const saveState = (state: object): void => history.replaceState({ ...history.state, ...state }, '')

/** State that a screen stored in its history entry. */
export const getEntryState = <T>(name: string, initial: T): T => history.state?.[name] ?? initial

let scrollTimer: ReturnType<typeof setTimeout> | undefined
let isRestoring = false

function saveScroll(): void {
  clearTimeout(scrollTimer)
  if (!isRestoring) saveState({ scroll: scrollY })
}

// The position is saved once scrolling stops, not when the user leaves the page: browsers may ignore a change at that time.
// They also limit the number of changes, so not every event is saved.
addEventListener('scroll', () => {
  clearTimeout(scrollTimer)
  scrollTimer = setTimeout(saveScroll, SCROLL_SETTLED_MS)
})

/** Scrolls to the reader's last position while the content grows, until the reader acts. */
function restoreScroll(): void {
  clearTimeout(scrollTimer)
  const scroll = getEntryState('scroll', 0)
  if (scroll === 0) return
  isRestoring = true
  const ending = new AbortController()
  const { signal } = ending
  const observer = new ResizeObserver(() => scrollTo(0, scroll))
  observer.observe(document.body)
  signal.addEventListener('abort', () => {
    observer.disconnect()
    removeListener()
    isRestoring = false
  })
  const end = () => ending.abort()
  const removeListener = changes.add(end)
  setTimeout(end, RESTORE_MS)
  for (const name of [...READER_EVENTS, 'popstate'] as const) addEventListener(name, end, { signal, passive: true })
}

addEventListener('popstate', () => {
  changes.notify()
  restoreScroll()
})
restoreScroll()

/** Opens another screen, or another state of this screen. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', to)
  else {
    saveScroll()
    history.pushState(null, '', to)
    scrollTo(0, 0)
  }
  changes.notify()
}

/** State of a screen in its history entry. It is restored after Back and after a reload. */
export function useEntryState<T>(name: string, initial: T): [T, (change: (before: T) => T) => void] {
  const [value, setValue] = useState<T>(() => getEntryState(name, initial))
  const newest = useRef(value)
  const change = useCallback((next: (before: T) => T) => {
    newest.current = next(newest.current)
    saveState({ [name]: newest.current })
    setValue(newest.current)
  }, [])
  return [value, change]
}

/**
 * Links to this origin open without a reload, and their `#...` part is dropped. The browser itself follows a link to a
 * `#...` part of the current path.
 */
document.addEventListener('click', (event) => {
  const link = (event.target as Element).closest?.('a')
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
  if (!link || !isPlain || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  if (link.hash && link.pathname === location.pathname) return
  event.preventDefault()
  go(link.pathname + link.search)
})

export const usePageLocation = (): PageLocation => useListened(changes, readLocation)
