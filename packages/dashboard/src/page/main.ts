import { render, type VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { readSession, createSharedSource, signInNeeded, signOut, describeError, type SessionInfo } from './api.ts'
import { Availability } from './availability.ts'
import { html } from './html.ts'
import { LiveStream } from './live-stream.ts'
import { usePageLocation, type PageLocation } from './router.ts'
import { Campaign } from './screens/campaign.ts'
import { ClientLinks } from './screens/client-links.ts'
import { CreatorScreen } from './screens/creators/creator.ts'
import { Creators } from './screens/creators/creators.ts'
import { Compare } from './screens/compare.ts'
import { Health } from './screens/health.ts'
import { Home } from './screens/home/home.ts'
import { NotFound } from './screens/not-found.ts'
import { Prices } from './screens/prices.ts'
import { SignIn } from './screens/sign-in.ts'
import { Trash } from './screens/trash.ts'
import { Clock } from './parts/cards.ts'
import { UndoList } from './parts/undo-list.ts'
import { PageStateContext, useAvailability } from './page-state.ts'
import { choice, changeLanguage, LANGUAGES, type Language } from './texts/language.ts'
import { rich, text } from './texts/texts.ts'

const SHARED_PATH = /^\/shared\/[^/]+$/
const CAMPAIGN_PATH = /^\/campaigns\/([^/]+)$/
const CREATOR_PATH = /^\/creators\/([^/]+)$/
const ALL_CAMPAIGNS_URL = '/api/sse/wait?match=collections/*&named=1&cid=dashboard'
const SESSION_RETRY_MS = 2_000

const link = SHARED_PATH.exec(location.pathname)?.[0]
// The stream opens before the first read, so that no value is lost between them.
function openLive() {
  const live = new LiveStream(link ? `${link}/wait?cid=link` : ALL_CAMPAIGNS_URL)
  return { live, availability: new Availability(link ? `${link}/status` : '/status', live) }
}

/** The screens of the navigation: path, title and component. */
const SCREENS = [
  ['/', text('frame.campaigns'), Home],
  ['/creators', text('creators.title'), Creators],
  ['/compare', text('frame.compare'), Compare],
  ['/client-links', text('frame.links'), ClientLinks],
  ['/prices', text('frame.prices'), Prices],
  ['/health', text('frame.health'), Health],
] as const
/** Screens that the navigation does not contain. */
const INNER_SCREENS = [['/trash', text('trash.title'), Trash]] as const
const findScreen = (path: string) => [...SCREENS, ...INNER_SCREENS].find(([to]) => to === path)?.[2]

/** Decodes a part of a path. `undefined` if its encoding is invalid. */
function decodePart(part: string | undefined): string | undefined {
  try {
    return part && decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function renderScreen(pageLocation: PageLocation) {
  if (link) return html`<${Campaign} key=${link} source=${createSharedSource(link)} pageLocation=${pageLocation} />`
  const [isCampaign, part] = CAMPAIGN_PATH.exec(pageLocation.path) ?? []
  const id = decodePart(part)
  if (id !== undefined) return html`<${Campaign} key=${id} id=${id} pageLocation=${pageLocation} />`
  const creator = decodePart(CREATOR_PATH.exec(pageLocation.path)?.[1])
  if (creator !== undefined) return html`<${CreatorScreen} key=${creator} id=${creator} />`
  const Screen = findScreen(pageLocation.path) ?? (isCampaign || CREATOR_PATH.test(pageLocation.path) ? NotFound : Home)
  return html`<${Screen} pageLocation=${pageLocation} />`
}

/** False for an address that no screen has. */
const isKnown = ({ path }: PageLocation) =>
  link !== undefined ||
  CAMPAIGN_PATH.test(path) ||
  CREATOR_PATH.test(path) ||
  path === '/sign-in' ||
  findScreen(path) !== undefined

/** The screens that show numbers of YouTube or of its stand-in. */
const hasStatistics = ({ path }: PageLocation) =>
  link !== undefined ||
  ['/', '/compare', '/creators'].includes(path) ||
  CAMPAIGN_PATH.test(path) ||
  CREATOR_PATH.test(path)

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
  if (!isKnown(pageLocation)) return renderPlain(html`<${NotFound} />`, session)
  if (!session) return renderPlain(html`<p class="quiet" role="status">${fault ?? text('frame.loading')}</p>`)
  if (!isSignedIn || !opened) return renderPlain(html`<${SignIn} onDone=${load} />`)
  return html`<${PageStateContext.Provider} value=${{ session, ...opened }}>
    <a class="skip" href="#main">${text('frame.skip')}</a>
    <${Top} path=${path} session=${session} availability=${opened.availability} />
    ${hasStatistics(pageLocation) && html`<${StandIn} session=${session} availability=${opened.availability} />`}
    <${Issues} availability=${opened.availability} />
    <main class="page" id="main" tabindex="-1">${renderScreen(pageLocation)}</main>
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
  const screens = SCREENS.filter(([to]) => to !== '/prices' || session?.services.includes('prices'))
  return html`<header class="top">
    <div class="inner">
      <a class="brand" href=${link ?? '/'}><${Mark} />Influencer Stats</a>
      ${session && !link && html`<nav aria-label=${text('frame.screens')}>${screens.map(([to, title]) => html`<a key=${to} href=${to} aria-current=${isHere(to) ? 'page' : undefined}>${title}</a>`)}</nav>`}
      <div class="side">
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
  const { status } = useAvailability(availability)
  if ((status?.source ?? session.source) !== 'stand-in') return null
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
