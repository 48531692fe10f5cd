import { render, type VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { readSession, createSharedSource, signInNeeded, signOut, describeError, type SessionInfo } from './api.ts'
import { Availability } from './availability.ts'
import { html } from './html.ts'
import { useNow } from './hooks.ts'
import { LiveStream } from './live-stream.ts'
import { usePageLocation, type PageLocation } from './router.ts'
import { NotFound } from './screens/not-found.ts'
import { findScreen, SCREEN_FILES, type FoundScreen, type ScreenPath } from './screens/screen-files.ts'
import { SCREENS } from './screens/screens.ts'
import { SignIn } from './screens/sign-in.ts'
import { Clock } from './parts/cards.ts'
import { UndoList } from './parts/undo-list.ts'
import { formats, PageStateContext, useAvailability } from './page-state.ts'
import { choice, changeLanguage, LANGUAGES, type Language } from './texts/language.ts'
import { rich, text } from './texts/texts.ts'

const ALL_CAMPAIGNS_URL = '/api/sse/wait?match=collections/*&named=1&cid=dashboard'
const SESSION_RETRY_MS = 2_000

const first = findScreen(location.pathname)
// The page of a share link has no other screen.
const link = first?.path === '/shared/:token' ? location.pathname : undefined
// The stream opens before the first read, so that no value is lost between them.
function openLive() {
  const live = new LiveStream(link ? `${link}/wait?cid=link` : ALL_CAMPAIGNS_URL)
  return { live, availability: new Availability(link ? `${link}/status` : '/status', live) }
}

/** The screens of the navigation, and their titles. */
const NAVIGATION = [
  ['/', text('frame.campaigns')],
  ['/creators', text('creators.title')],
  ['/compare', text('frame.compare')],
  ['/client-links', text('frame.links')],
  ['/prices', text('frame.prices')],
  ['/health', text('frame.health')],
] as const
/** The screens that show numbers of YouTube or of its stand-in. */
const STATISTICS = new Set<ScreenPath>([
  '/',
  '/campaigns/:id',
  '/compare',
  '/creators',
  '/creators/:id',
  '/shared/:token',
])

function renderScreen({ path, part }: FoundScreen, pageLocation: PageLocation) {
  const props = link ? { source: createSharedSource(link) } : { id: part }
  return html`<${SCREENS[SCREEN_FILES[path]]} key=${`${path} ${part}`} ...${props} pageLocation=${pageLocation} />`
}

// Charts are drawn with the colours of the page: they need those of the paper before it is printed.
addEventListener('beforeprint', () => document.documentElement.classList.add('paper'))
addEventListener('afterprint', () => document.documentElement.classList.remove('paper'))

const loadScreen = (screen: FoundScreen | undefined) => screen && SCREENS[SCREEN_FILES[screen.path]].load()
// The first screen is loaded while the session is read, and another one as soon as the reader points at a link to it.
loadScreen(first)
for (const event of ['pointerover', 'focusin'] as const)
  document.addEventListener(event, ({ target }) => {
    const to = (target as Element).closest?.('a')
    if (to?.origin === location.origin) loadScreen(findScreen(to.pathname))
  })

function App() {
  const pageLocation = usePageLocation()
  const [session, setSession] = useState<SessionInfo | undefined>()
  const [fault, setFault] = useState<string | undefined>()
  const isSignedIn = session?.role !== undefined || link !== undefined

  function load() {
    readSession().then(
      (found) => {
        setFault(undefined)
        setSession(found)
      },
      (error) => {
        setFault(describeError(error))
        setTimeout(load, SESSION_RETRY_MS)
      },
    )
  }
  useEffect(load, [])
  useEffect(() => signInNeeded.add(load), [])
  const opened = useMemo(() => (isSignedIn && session ? openLive() : undefined), [isSignedIn, session !== undefined])

  const { path } = pageLocation
  const renderPlain = (content: VNode, known?: SessionInfo) =>
    html`<${Top} path=${path} session=${known} />
      <main class="page">${content}</main>
      <${Foot} />`
  const screen = link ? first : findScreen(path)
  if (!screen) return renderPlain(html`<${NotFound} />`, session)
  if (!session) return renderPlain(html`<p class="quiet" role="status">${fault ?? text('frame.loading')}</p>`)
  if (!isSignedIn || !opened) return renderPlain(html`<${SignIn} onDone=${load} />`)
  return html`<${PageStateContext.Provider} value=${{ session, ...opened }}>
    <a class="skip" href="#main">${text('frame.skip')}</a>
    <${Top} path=${path} session=${session} availability=${opened.availability} />
    ${STATISTICS.has(screen.path) && html`<${StandIn} session=${session} availability=${opened.availability} />`}
    <${Issues} availability=${opened.availability} />
    <main class="page" id="main" tabindex="-1">${renderScreen(screen, pageLocation)}</main>
    <${Foot} />
    <${UndoList} />
  </${PageStateContext.Provider}>`
}

function Top({ path, session, availability }: { path: string; session?: SessionInfo; availability?: Availability }) {
  const isHere = (to: string) =>
    to === '/'
      ? path === '/' || path === '/trash' || path.startsWith('/campaigns/')
      : path === to || path.startsWith(`${to}/`)
  async function leaveSession() {
    await signOut()
    location.assign('/')
  }
  const screens = NAVIGATION.filter(([to]) => to !== '/prices' || session?.services.includes('prices'))
  return html`<header class="top">
    <div class="inner">
      <a class="brand" href=${link ?? '/'}><${Mark} />Influencer Stats</a>
      ${session && !link && html`<nav aria-label=${text('frame.screens')}>${screens.map(([to, title]) => html`<a key=${to} href=${to} aria-current=${isHere(to) ? 'page' : undefined}>${title}</a>`)}</nav>`}
      <div class="side" data-day=${formats.day(useNow())}>
        ${availability && html`<${Dot} availability=${availability} />`}
        ${session?.needed && session.role && !link && html`<button class="link" onClick=${leaveSession}>${text('frame.signOut')}</button>`}
      </div>
    </div>
  </header>`
}

/** The choice of the language, for readers of a share link too. */
const Foot = () =>
  html`<footer class="foot">
    <div role="group" aria-label=${text('frame.language')}>
      ${Object.entries(LANGUAGES).map(([language, name]) => html`<button key=${language} type="button" class="link" lang=${language} aria-pressed=${language === choice.language} onClick=${() => changeLanguage(language as Language)}>${name}</button>`)}
    </div>
  </footer>`

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
  const words = text(`frame.${dot}`)
  return html`<span class=${`dot ${dot}`}>${words}</span>`
}

/** States that the numbers are invented, according to the current source and not the source when the page opened. */
function StandIn({ session, availability }: AvailabilityProps & { session: SessionInfo }) {
  const { status, isEnded } = useAvailability(availability)
  if (isEnded || (status?.source ?? session.source) !== 'stand-in') return null
  return html`<aside class="stand-in" aria-label=${text('frame.standInLabel')}>
    ${rich('frame.standIn', { b: (words) => html`<b>${words}</b>` })}
  </aside>`
}

/** Names the parts that do not work, and states the age of the numbers on the page. */
function Issues({ availability }: AvailabilityProps) {
  const { issues } = useAvailability(availability)
  return html`<div role="status">
    ${issues.map(
      ({ name, text, stopsLiveNumbers, workedAt }) =>
        html`<p class="lost" key=${name}>
          <b>${text}</b>
          ${workedAt !== undefined && html`${' '}${rich(stopsLiveNumbers ? 'frame.numbersAsOf' : 'frame.lastAnsweredAt', { time: html`<${Clock} at=${new Date(workedAt).toISOString()} />` })}`}
        </p>`,
    )}
  </div>`
}

render(html`<${App} />`, document.getElementById('app')!)
