import { setTimeout as delay } from 'node:timers/promises'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import type { StatsClient } from '@influencer-stats/stats/client'
import type { Page } from 'playwright-core'
import { Oracle, type TrueSums } from './oracle.ts'
import { viewOf, type PageView, type ShownGrowth } from './page-view.ts'
import type { Upstream } from './upstream.ts'

const HOUR = 3_600_000
const CHECK_INTERVAL_MS = 1_000
/** A page names what is unavailable within this time (ms), and has what changed. */
const DETECTION_MS = 15_000
/** What was true so recently may still be shown (ms of the monotonic clock): a page reads its tables one after the other. */
const PAGE_DELAY_MS = 20_000
/** A table of a page that has newer sums follows within this time (ms of the monotonic clock). */
const TABLE_DELAY_MS = 5_000
/** Health is read every 5 s. */
const HEALTH_DELAY_MS = 12_000
/** Calls that were counted, and not made, or not yet. */
const UNMADE_CALLS = 5
const WINDOW = 24 * HOUR
/** Sums at the beginning of a window are interpolated between points that are no farther apart. */
const NEAR = WINDOW / 12
const MINUTE = 60_000

const count = (value: number) => value.toLocaleString('en-US')
const percent = (share: number) => share.toLocaleString('en-US', { style: 'percent', maximumFractionDigits: 1 })
const money = (value: number) =>
  value.toLocaleString('en-US', {
    style: 'currency',
    currency: 'EUR',
    ...(value < 1 && { maximumSignificantDigits: 3 }),
  })
/** The quota is one of days in California. */
const quotaDay = (at: number) => new Date(at).toLocaleDateString('en-US', { timeZone: 'America/Los_Angeles' })
const numberIn = (text: string) => Number(text.replaceAll(/[^\d]/g, ''))

/** What the test did to a campaign. */
interface TrueCampaign {
  readonly name: string
  readonly cost: number | undefined
  /** From when on it was so (ms of the monotonic clock). */
  readonly steady: number
  readonly videos: readonly string[]
}

/** Sums as a page or a reply states them. */
interface ShownSums extends Pick<TrueSums, 'impressions' | 'engagements'> {
  readonly asOf: string
  readonly isOld: boolean
}

type PageKind = 'home' | 'campaign' | 'shared' | 'health'

interface CheckedPage {
  readonly page: Page
  readonly kind: PageKind
  readonly campaign: string | undefined
  /** A link that ended: since when (own time). */
  endedAt?: number
  /** The times of the sums that it displayed, each with the time of the check (ms of the monotonic clock). */
  readonly shown: { readonly asOf: number; readonly steady: number }[]
}

interface CheckerOptions {
  readonly upstream: Upstream
  readonly stats: StatsClient
  /** Units of quota a day. */
  readonly budget: number
  now(): number
}

/** Compares every second what pages and API state with what is true. */
export class Checker {
  readonly #options: CheckerOptions
  readonly #oracle: Oracle
  readonly #campaigns = new Map<string, TrueCampaign[]>()
  readonly #pages: CheckedPage[] = []
  /** Since when something does not work (own time): by how the pages have to name it. */
  readonly #outages = new Map<string, number>()
  /** Since when stats cannot be read (ms of the monotonic clock): pages show what was true then. */
  #unreadableSince = Infinity
  /** Since when it works again (own time): it observes YouTube anew. */
  #statsBackAt = -Infinity
  readonly #time = startProcessClock()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #day = ''
  #dayBeganAt = -Infinity
  #checks = 0
  /** Untrue values: a line each, and how often it was displayed. */
  readonly untrue = new Map<string, number>()

  constructor(options: CheckerOptions) {
    this.#options = options
    this.#oracle = new Oracle(options.upstream)
  }

  /** Takes note of what a campaign is from now on. */
  campaign(id: string, change: Partial<Omit<TrueCampaign, 'steady'>>): void {
    const versions = this.#campaigns.get(id) ?? []
    const last = versions.at(-1) ?? { name: id, cost: undefined, videos: [] }
    this.#campaigns.set(id, [...versions, { ...last, ...change, steady: performance.now() }])
  }

  page(kind: PageKind, page: Page, campaign?: string): CheckedPage {
    const checked: CheckedPage = { page, kind, campaign, shown: [] }
    this.#pages.push(checked)
    return checked
  }

  end(page: CheckedPage): void {
    page.endedAt = this.#time()
  }

  /** @param name as the pages have to name it */
  outage(name: string, isOver = false): void {
    if (isOver) this.#outages.delete(name)
    else this.#outages.set(name, this.#time())
    if (name !== 'stats') return
    if (isOver) this.#statsBackAt = this.#time()
    else this.#unreadableSince = performance.now()
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Stops, and resolves to the number of checks. */
  async stop(): Promise<number> {
    this.#stopping.abort()
    await this.#running
    return this.#checks
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const begun = performance.now()
      await this.check()
      const rest = Math.max(0, CHECK_INTERVAL_MS - (performance.now() - begun))
      await delay(rest, undefined, { signal: this.#stopping.signal }).catch(() => {})
    }
  }

  /** Checks everything once. */
  async check(): Promise<void> {
    this.#checks++
    await Promise.all([this.#checkApi(), ...this.#pages.map((page) => this.#checkPage(page))])
  }

  #report(subject: string, line: string): void {
    const text = `${subject}: ${line}`
    this.untrue.set(text, (this.untrue.get(text) ?? 0) + 1)
  }

  /** What a campaign was at some time since `PAGE_DELAY_MS`, the newest last. */
  #recent(id: string): readonly TrueCampaign[] {
    const versions = this.#campaigns.get(id) ?? []
    // After an outage pages read what has changed meanwhile.
    const isReadable = !this.#outages.has('stats') && this.#time() - this.#statsBackAt > DETECTION_MS
    const steady = (isReadable ? performance.now() : Math.min(performance.now(), this.#unreadableSince)) - PAGE_DELAY_MS
    const current = versions.findLastIndex((version) => version.steady <= steady)
    return versions.slice(Math.max(0, current))
  }

  /**
   * @param name the displayed one: name and sums are those of one version of the campaign
   * @returns the true sums that equal the displayed ones
   */
  #checkSums(subject: string, id: string, name: string | undefined, shown: ShownSums): readonly TrueSums[] {
    const { impressions, engagements, asOf, isOld } = shown
    const versions = this.#recent(id).filter((one) => name === undefined || one.name === name)
    const found = versions
      .flatMap(({ videos }) => this.#oracle.sumsAsOf(videos, Date.parse(asOf)))
      .filter((sums) => sums.impressions === impressions && sums.engagements === engagements)
    const isTrue = found.length > 0 || (isOld && versions.some(({ videos }) => this.#isMixed(videos, shown)))
    if (!isTrue)
      this.#report(
        subject,
        `${impressions} views and ${engagements} engagements were never true of ${name ?? id} as of ${asOf}`,
      )
    return found
  }

  /** After an outage a part of old sums is newer than they state: they are of the time of the oldest, and marked as old. */
  #isMixed(videos: readonly string[], { impressions, engagements, asOf }: ShownSums): boolean {
    const all = this.#oracle.sumsAsOf(videos, Date.parse(asOf), Infinity)
    const isBetween = (name: 'impressions' | 'engagements', value: number) =>
      value >= Math.min(...all.map((sums) => sums[name])) && value <= Math.max(...all.map((sums) => sums[name]))
    return isBetween('impressions', impressions) && isBetween('engagements', engagements)
  }

  /** @param slack how far the beginning of the window may be from `from` (ms) */
  #checkGrowth(subject: string, id: string, value: number, from: number, to: number, slack: number): void {
    const videos = [...new Set(this.#campaigns.get(id)!.flatMap((one) => one.videos))]
    const most = this.#oracle.growth(videos, from - slack, to)
    if (value < 0 || value > most)
      this.#report(
        subject,
        `${value} views more since ${new Date(from).toISOString()} in ${id}, where ${most} is the true maximum`,
      )
  }

  async #checkApi(): Promise<void> {
    const { stats, now } = this.#options
    const page = await stats.list({ include: ['stats', 'change'] }).catch(() => undefined)
    for (const { id, name, stats: sums, change } of page?.collections ?? []) {
      const subject = `API, ${id}`
      if (!sums) continue
      const found = this.#checkSums(subject, id, name, { ...sums, isOld: sums.stale })
      const hidden = (sums as { hidden?: { likes?: number } }).hidden?.likes ?? 0
      if (found.length > 0 && !found.some((one) => one.hidden.length === hidden))
        this.#report(subject, `likes of ${hidden} videos hidden, where ${found[0]!.hidden.join() || 'none'} are`)
      for (const gone of sums.gone ?? [])
        if (found.length > 0 && !found.some(({ omitted }) => omitted.includes(gone.id)))
          this.#report(subject, `${gone.id} is gone, which YouTube stated`)
      for (const [name, growth] of Object.entries(change ?? {})) {
        const length = { '24h': 1, '7d': 7, '30d': 30 }[name]! * WINDOW
        const { since, until, impressions, isWhole } = growth as typeof growth & { until?: string; isWhole?: true }
        const from = Date.parse(since)
        const to = until === undefined ? now() : Date.parse(until)
        if (until !== undefined && to - from > length)
          this.#report(`${subject}, ${name}`, `a window of ${((to - from) / HOUR).toFixed(1)} h`)
        this.#checkGrowth(`${subject}, ${name}`, id, impressions, from, to + MINUTE, isWhole ? NEAR : MINUTE)
      }
    }
  }

  async #checkPage(checked: CheckedPage): Promise<void> {
    const { page, kind, campaign } = checked
    const view = await viewOf(page)
    const subject = `${kind} page${campaign === undefined ? '' : ` of ${campaign}`}`
    this.#checkLive(subject, view, checked.endedAt !== undefined)
    if (checked.endedAt !== undefined) this.#checkEnded(subject, view, checked.endedAt)
    else if (kind === 'home') this.#checkHome(subject, view)
    else if (kind === 'health') this.#checkHealth(subject, view)
    else this.#checkCampaign(subject, view, checked)
  }

  #checkLive(subject: string, view: PageView, isEnded: boolean): void {
    for (const [name, since] of this.#outages) {
      // Pages know of YouTube by stats, which observes it anew after a start.
      const knowsSince = name === 'stats' ? since : Math.max(since, this.#statsBackAt)
      if (this.#time() - knowsSince < DETECTION_MS) continue
      if (view.dot === 'live') this.#report(subject, `Live, ${DETECTION_MS / 1_000} s after ${name} stopped`)
      const isKnown = name === 'stats' || !this.#outages.has('stats')
      if (isKnown && !isEnded && !view.lost.some((text) => text.includes(name)))
        this.#report(subject, `does not name ${name}, which does not work`)
    }
  }

  /** The page of a link that ended shows a sentence and no campaign. */
  #checkEnded(subject: string, view: PageView, endedAt: number): void {
    if (this.#time() - endedAt < DETECTION_MS) return
    if (view.cards.length > 0 || view.videos.length > 0)
      this.#report(subject, `numbers by a link that ended: ${view.heading}`)
    if (!/no longer valid/.test(view.text)) this.#report(subject, `no reason for a link that ended: ${view.text}`)
  }

  #checkHome(subject: string, { rows, cards, dot }: PageView): void {
    for (const { id, name, views, growth, engagements, rate, asOf, isOld } of rows) {
      const of = `${subject}, ${id}`
      this.#checkName(of, id, name)
      if (asOf === undefined) continue
      const sums = { impressions: numberIn(views), engagements: numberIn(engagements) }
      this.#checkSums(of, id, name, { ...sums, asOf, isOld })
      if (!isOld) this.#checkAge(of, id, asOf, dot)
      if (rate !== percent(numberIn(engagements) / numberIn(views))) this.#report(of, `rate ${rate}`)
      if (growth) this.#checkShownGrowth(of, id, growth)
    }
    const total = (title: string) => cards.find((card) => card.title === title)?.value
    const sum = (name: 'views' | 'engagements') => count(rows.reduce((all, row) => all + numberIn(row[name]), 0))
    for (const [title, shown] of [
      ['Views', sum('views')],
      ['Engagements', sum('engagements')],
    ] as const)
      if (total(title) !== undefined && total(title) !== shown)
        this.#report(subject, `${title} of all campaigns ${total(title)}, where the rows have ${shown}`)
  }

  #checkCampaign(subject: string, view: PageView, { campaign: id, kind, shown }: CheckedPage): void {
    if (view.asOf === undefined) return
    const steady = performance.now()
    shown.push({ asOf: Date.parse(view.asOf), steady })
    const recent = shown.filter((one) => one.steady >= steady - TABLE_DELAY_MS)
    const oldest = Math.min(...recent.map(({ asOf }) => asOf))
    this.#checkName(subject, id!, view.heading)
    const card = (title: string) => view.cards.find((one) => one.title === title)
    const [views, engagements] = [numberIn(card('Views')!.value), numberIn(card('Engagements')!.value)]
    const { asOf, isOld } = view
    this.#checkSums(subject, id!, view.heading, { impressions: views, engagements, asOf, isOld })
    if (!isOld) this.#checkAge(subject, id!, view.asOf, view.dot)
    const growth = card('Views')!.growth
    if (growth) this.#checkShownGrowth(subject, id!, growth)
    const rate = card('Engagement rate')!.value
    if (rate !== percent(engagements / views)) this.#report(subject, `rate ${rate}`)
    const price = card('Per thousand views')?.value
    const prices = this.#recent(id!).map(({ cost }) => (cost === undefined ? undefined : money((cost / views) * 1_000)))
    if (kind === 'shared' ? price !== undefined : !prices.includes(price))
      this.#report(subject, `costs of a thousand views: ${price}, where it is ${prices.at(-1)}`)
    for (const video of view.videos) this.#checkVideo(`${subject}, ${video.id}`, video, oldest)
  }

  #checkVideo(subject: string, { id, counts, badges }: PageView['videos'][number], asOf: number): void {
    const recent = this.#oracle.statedSince(id, asOf, TABLE_DELAY_MS)
    const stated = recent.length > 0 ? recent : this.#oracle.statedSince(id, 0, 0).slice(-1)
    const shown = counts.join(' ')
    const right = stated.map(({ views, likes, comments }) =>
      [count(views), likes === undefined ? '–' : count(likes), count(comments)].join(' '),
    )
    if (stated.length === 0) right.push('– – –')
    if (!right.includes(shown)) this.#report(subject, `shows ${shown}, where YouTube stated ${right.at(-1)}`)
    if (shown.includes('–') && badges === '') this.#report(subject, `shows ${shown} without a reason`)
  }

  #checkName(subject: string, id: string, name: string): void {
    const names = this.#recent(id).map((one) => one.name)
    if (!names.includes(name)) this.#report(subject, `is named ${name}, where it is ${names.at(-1)}`)
  }

  /** Under "Live" are numbers of this moment, unless they are marked as old. */
  #checkAge(subject: string, id: string, asOf: string, dot: string): void {
    if (dot !== 'live') return
    const videos = this.#recent(id).flatMap((one) => one.videos)
    const first = this.#oracle.statementAt(videos, Date.parse(asOf))
    const newest = this.#options.upstream.statements.findLast(({ videos: some }) => videos.some((one) => some.get(one)))
    if (first && newest && newest.steady - first.steady > PAGE_DELAY_MS)
      this.#report(subject, `Live with numbers of ${asOf}, which are older than the newest ones by over 20 s`)
  }

  #checkShownGrowth(subject: string, id: string, { value, since }: ShownGrowth): void {
    const now = this.#options.now()
    const window = now - WINDOW
    this.#checkGrowth(subject, id, value, since ?? window, now, since === undefined ? NEAR : MINUTE)
  }

  #checkHealth(subject: string, { cards }: PageView): void {
    const since = (name: string) => this.#time() - (this.#outages.get(name) ?? Infinity)
    const shown = cards.map(({ title, value, note }) => `${title}: ${value} ${note}`).join('; ')
    if (since('stats') > DETECTION_MS && /no limit|all fresh|\d/.test(shown))
      this.#report(subject, `knows without stats: ${shown}`)
    if (since('YouTube') > DETECTION_MS && /all fresh/.test(shown))
      this.#report(subject, `fresh without YouTube: ${shown}`)
    this.#checkQuota(subject, cards.find(({ title }) => title === 'Quota left today')?.value ?? '')
  }

  #checkQuota(subject: string, left: string): void {
    const { upstream, budget, now } = this.#options
    const steady = performance.now()
    const day = quotaDay(now())
    if (day !== this.#day) [this.#day, this.#dayBeganAt] = [day, steady]
    if (steady - this.#dayBeganAt < HEALTH_DELAY_MS || !/\d/.test(left)) return
    const calls = upstream.calls.filter(({ at }) => quotaDay(at) === day)
    const least = calls.filter((call) => call.steady < steady - HEALTH_DELAY_MS).length
    const used = budget - numberIn(left)
    if (used < least || used > calls.length + UNMADE_CALLS)
      this.#report(subject, `${used} units of quota used, where ${least} to ${calls.length} calls were made on ${day}`)
  }
}
