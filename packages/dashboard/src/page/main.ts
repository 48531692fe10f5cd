import { render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { session as readSession, sharedCampaign, signOut, wordsFor, type Session } from './api.ts'
import { Availability } from './availability.ts'
import { html } from './html.ts'
import { Live } from './live.ts'
import { usePlace, type Place } from './router.ts'
import { Campaign } from './screens/campaign.ts'
import { ClientLinks } from './screens/client-links.ts'
import { Compare } from './screens/compare.ts'
import { Health } from './screens/health.ts'
import { Home } from './screens/home.ts'
import { NotFound } from './screens/not-found.ts'
import { Prices } from './screens/prices.ts'
import { SignIn } from './screens/sign-in.ts'
import { Clock } from './parts/figures.ts'
import { UndoList } from './parts/undo-list.ts'
import { onSignInNeeded, SharedContext, signInNeeded, useAvailability } from './session.ts'

const SHARED = /^\/shared\/[^/]+$/
const CAMPAIGN = /^\/campaigns\/([^/]+)$/
const ALL = '/api/sse/wait?match=collections/*&named=1&cid=dashboard'
const SESSION_RETRY = 2_000

const link = SHARED.exec(location.pathname)?.[0]
// Opened before anything is read, so that nothing is missed between.
function openLive() {
  const live = new Live(link ? `${link}/wait?cid=link` : ALL)
  return { live, availability: new Availability(link ? `${link}/status` : '/status', live, signInNeeded) }
}

const BY_PATH: Readonly<Record<string, (props: { place: Place }) => unknown>> = {
  '/': Home,
  '/compare': Compare,
  '/prices': Prices,
  '/health': Health,
  '/client-links': ClientLinks,
}

/** `undefined` where it is no text. */
function decoded(part: string | undefined): string | undefined {
  try {
    return part && decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function screenFor(place: Place) {
  if (link) return html`<${Campaign} key=${link} source=${sharedCampaign(link)} place=${place} />`
  const [isCampaign, part] = CAMPAIGN.exec(place.path) ?? []
  const id = decoded(part)
  if (id !== undefined) return html`<${Campaign} key=${id} id=${id} place=${place} />`
  const Screen = BY_PATH[place.path] ?? (isCampaign ? NotFound : Home)
  return html`<${Screen} place=${place} />`
}

/** False for an address that no screen has. */
const isKnown = ({ path }: Place) =>
  link !== undefined || CAMPAIGN.test(path) || path === '/sign-in' || Object.hasOwn(BY_PATH, path)

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
  const opened = useMemo(() => (isIn && session ? openLive() : undefined), [isIn, session !== undefined])

  if (!isKnown(place))
    return html`<${Top} path=${place.path} session=${session} />
      <main class="page"><${NotFound} /></main>`
  if (!session)
    return html`<${Top} path=${place.path} />
      <main class="page"><p class="quiet" role="status">${fault ?? 'Loading…'}</p></main>`
  if (!isIn || !opened)
    return html`<${Top} path=${place.path} />
      <main class="page"><${SignIn} onDone=${load} /></main>`
  return html`<${SharedContext.Provider} value=${{ session, ...opened }}>
    <a class="skip" href="#main">Skip to content</a>
    <${Top} path=${place.path} session=${session} availability=${opened.availability} />
    <${StandIn} session=${session} availability=${opened.availability} />
    <${Troubles} availability=${opened.availability} />
    <main class="page" id="main" tabindex="-1">${screenFor(place)}</main>
    <${UndoList} />
  </${SharedContext.Provider}>`
}

const SCREENS = [
  ['/', 'Campaigns'],
  ['/compare', 'Compare'],
  ['/client-links', 'Links'],
  ['/prices', 'Prices'],
  ['/health', 'Health'],
] as const

function Top({ path, session, availability }: { path: string; session?: Session; availability?: Availability }) {
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
        ${availability && html`<${Dot} availability=${availability} />`}
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

interface AvailabilityProps {
  readonly availability: Availability
}

function Dot({ availability }: AvailabilityProps) {
  const { dot } = useAvailability(availability)
  const words = { live: 'Live', connecting: 'Connecting', lost: 'Not live' }[dot]
  return html`<span class=${`dot ${dot}`}>${words}</span>`
}

/** Says so while numbers are invented. What the services state now counts, not what they stated when the page opened. */
function StandIn({ session, availability }: AvailabilityProps & { session: Session }) {
  const { status } = useAvailability(availability)
  if ((status?.source ?? session.source) !== 'stand-in') return null
  return html`<aside class="stand-in" aria-label="Where the numbers come from">
    <b>Invented numbers.</b> They come from a stand-in for YouTube that runs here, so that nothing needs a key.
  </aside>`
}

/** Names the parts that do not work, and states the age of what the page shows. */
function Troubles({ availability }: AvailabilityProps) {
  const { troubles } = useAvailability(availability)
  return html`<div role="status">
    ${troubles.map(
      ({ name, text, stopsNumbers, workedAt }) =>
        html`<p class="lost" key=${name}>
          <b>${text}</b>
          ${workedAt !== undefined && html`${' '}${stopsNumbers ? 'Numbers are those of' : 'It last answered at'} <${Clock} at=${new Date(workedAt).toISOString()} />.`}
        </p>`,
    )}
  </div>`
}

render(html`<${App} />`, document.getElementById('app')!)
