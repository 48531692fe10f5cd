import { render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { session as readSession, sharedCampaign, signOut, wordsFor, type Session } from './api.ts'
import { html } from './html.ts'
import { Live, type LiveState } from './live.ts'
import { usePlace, type Place } from './router.ts'
import { Campaign } from './screens/campaign.ts'
import { Compare } from './screens/compare.ts'
import { Health } from './screens/health.ts'
import { Home } from './screens/home.ts'
import { Prices } from './screens/prices.ts'
import { SignIn } from './screens/sign-in.ts'
import { UndoList } from './parts/undo-list.ts'
import { formats, onSignInNeeded, SharedContext } from './session.ts'

const SHARED = /^\/shared\/[^/]+/
const CAMPAIGN = /^\/campaigns\/([^/]+)$/
const ALL = '/api/sse/wait?match=collections/*&named=1&cid=dashboard'
const SESSION_RETRY = 2_000

const link = SHARED.exec(location.pathname)?.[0]
// Opened before anything is read, so that nothing is missed between.
const openLive = () => new Live(link ? `${link}/wait?cid=link` : ALL)

function screenFor(place: Place) {
  if (link) return html`<${Campaign} key=${link} source=${sharedCampaign(link)} place=${place} />`
  const [, id] = CAMPAIGN.exec(place.path) ?? []
  if (id !== undefined) return html`<${Campaign} key=${id} id=${decodeURIComponent(id)} place=${place} />`
  const Screen = { '/compare': Compare, '/prices': Prices, '/health': Health }[place.path] ?? Home
  return html`<${Screen} place=${place} />`
}

function App() {
  const place = usePlace()
  const [session, setSession] = useState<Session | undefined>()
  const [fault, setFault] = useState<string | undefined>()
  const isIn = session?.role !== undefined || link !== undefined

  function load() {
    readSession().then(
      (found) => {
        setFault(undefined)
        setSession(found)
      },
      (error) => {
        setFault(wordsFor(error))
        setTimeout(load, SESSION_RETRY)
      },
    )
  }
  useEffect(load, [])
  useEffect(() => onSignInNeeded(load), [])
  const live = useMemo(() => (isIn && session ? openLive() : undefined), [isIn, session !== undefined])

  if (!session)
    return html`<${Top} path=${place.path} />
      <main class="page"><p class="quiet" role="status">${fault ?? 'Loading…'}</p></main>`
  if (!isIn || !live)
    return html`<${Top} path=${place.path} />
      <main class="page"><${SignIn} onDone=${load} /></main>`
  return html`<${SharedContext.Provider} value=${{ session, live }}>
    <a class="skip" href="#main">Skip to content</a>
    <${Top} path=${place.path} session=${session} live=${live} />
    ${session.source === 'stand-in' && html`<aside class="stand-in" aria-label="Where the numbers come from"><b>Invented numbers.</b> They come from a stand-in for YouTube that runs here, so that nothing needs a key.</aside>`}
    <${Lost} live=${live} />
    <main class="page" id="main" tabindex="-1">${screenFor(place)}</main>
    <${UndoList} />
  </${SharedContext.Provider}>`
}

const SCREENS = [
  ['/', 'Campaigns'],
  ['/compare', 'Compare'],
  ['/prices', 'Prices'],
  ['/health', 'Health'],
] as const

function Top({ path, session, live }: { path: string; session?: Session; live?: Live }) {
  const isHere = (to: string) => (to === '/' ? path === '/' || path.startsWith('/campaigns/') : path === to)
  async function leave() {
    await signOut()
    location.assign('/')
  }
  const screens = SCREENS.filter(([to]) => to !== '/prices' || session?.services.includes('prices'))
  return html`<header class="top">
    <div class="inner">
      <a class="brand" href=${link ?? '/'}><${Mark} />Influencer Stats</a>
      ${session && !link && html`<nav aria-label="Screens">${screens.map(([to, title]) => html`<a key=${to} href=${to} aria-current=${isHere(to) ? 'page' : undefined}>${title}</a>`)}</nav>`}
      <div class="side">
        ${live && html`<${Dot} live=${live} />`}
        ${session?.needed && session.role && !link && html`<button class="link" onClick=${leave}>Sign out</button>`}
      </div>
    </div>
  </header>`
}

const Mark = () =>
  html`<svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M7 21l6-7 5 4 7-9" />
  </svg>`

function useLiveState(live: Live): LiveState {
  const [state, setState] = useState<LiveState>(live.state)
  useEffect(() => {
    setState(live.state)
    return live.listen({ state: setState })
  }, [live])
  return state
}

function Dot({ live }: { live: Live }) {
  const state = useLiveState(live)
  const words = { live: 'Live', connecting: 'Connecting', lost: 'Not live' }[state]
  return html`<span class=${`dot ${state}`}>${words}</span>`
}

/** Says so while numbers do not come, and since when. */
function Lost({ live }: { live: Live }) {
  const state = useLiveState(live)
  const since = useMemo(() => Date.now(), [state])
  return html`<div role="status">
    ${state === 'lost' && html`<p class="lost"><b>Connection lost.</b> Numbers are those of ${formats.moment(since)}; trying again…</p>`}
  </div>`
}

render(html`<${App} />`, document.getElementById('app')!)
