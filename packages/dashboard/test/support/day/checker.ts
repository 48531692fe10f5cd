import { setTimeout as delay } from 'node:timers/promises'
import type { StatsClient } from '@influencer-stats/stats/client'
import type { Page } from 'playwright-core'
import { Oracle, type TrueSums } from './oracle.ts'
import { readPageView, type PageView, type ShownGrowth } from './page-view.ts'
import type { FakeUpstream } from './fake-upstream.ts'

const HOUR_MS = 3_600_000
const CHECK_INTERVAL_MS = 1_000
// Tolerances are own time of the test unless they state another clock: a busy machine delays pages as it delays the test.
/** A page names an unavailable part within this time, and recovers within this time: it polls every 5 s, and a reply may take 6 s. */
const DETECTION_MS = 15_000
/** A page shows an edit within this time: a live value makes it read the campaign, a list at most every 2 s. */
const EDIT_DELAY_MS = 5_000
/** A live page shows newer numbers within this time after YouTube stated them: a list is read at most every 2 s. */
const MAX_AGE_MS = 5_000
/** The table of videos follows the sums within this time: it is read after them. */
const TABLE_DELAY_MS = 3_000
/** stats stores numbers in its history within this time after it has published them: growth may lack them until then. */
const HISTORY_DELAY_MS = 1_000
/** Health polls every 5 s, and a reply may take 6 s. */
const HEALTH_DELAY_MS = 11_000
/** The call in progress is counted before it is made. */
const MAX_UNMADE_CALLS = 1
/** Maximum delay between the requests for the videos of one campaign (moving clock). */
const REPLY_DISTANCE_MS = 5_000
/** A page states a time of another day to the minute; the sums at the beginning of a window are those of this minute. */
const MINUTE_MS = 60_000
const WINDOW_MS = 24 * HOUR_MS
/** Numbers at the beginning of a window may be older by this share of it, where YouTube omitted a video then. */
const MAX_START_AGE_SHARE = 1 / 12
/** A page adds live values to the growth in a window until it is longer by 2 %. */
const MAX_DRIFT_MS = 0.02 * WINDOW_MS
/** Views of a video are whole numbers at both ends of a window, and interpolated ones, too. */
const ROUNDING_VIEWS = 3

const count = (value: number) => value.toLocaleString('en-US')
const percent = (share: number) => share.toLocaleString('en-US', { style: 'percent', maximumFractionDigits: 1 })
const money = (value: number) =>
  value.toLocaleString('en-US', {
    style: 'currency',
    currency: 'EUR',
    ...(value < 1 && { maximumSignificantDigits: 3 }),
  })
/** The quota counts days in California. */
const quotaDay = (at: number) => new Date(at).toLocaleDateString('en-US', { timeZone: 'America/Los_Angeles' })
const numberIn = (text: string) => Number(text.replaceAll(/[^\d]/g, ''))

/** The true state of a campaign after a change by the test. */
interface TrueCampaign {
  readonly name: string
  readonly cost: number | undefined
  /** Start of this state: by the moving clock (ms since 1970), and in own time. */
  readonly at: number
  readonly ownAt: number
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
  /** The time at which the link ended (own time). */
  endedAt?: number
  /** The times of the sums that it displayed, each with the time of the check (own time). */
  readonly shown: { readonly asOf: number; readonly ownAt: number }[]
}

interface CheckerOptions {
  readonly upstream: FakeUpstream
  readonly stats: StatsClient
  /** Units of quota a day. */
  readonly budget: number
  /** Time of the moving clock (ms since 1970). */
  now(): number
  /** Own time of the test (ms). */
  time(): number
}

/** A span of time that contains one end of a window (ms since 1970). */
interface Span {
  readonly earliest: number
  readonly latest: number
}

/** Compares the values of pages and API with the true values, every second. */
export class Checker {
  readonly #options: CheckerOptions
  readonly #oracle: Oracle
  readonly #campaigns = new Map<string, TrueCampaign[]>()
  readonly #pages: CheckedPage[] = []
  /** Start of each outage (own time), by the name that pages must show. */
  readonly #outages = new Map<string, number>()
  /** Start of the time in which stats cannot be read (own time): pages show the values that were true then. */
  #unreadableSince = Infinity
  /** End of the last outage of stats (own time): after it, stats must observe YouTube again. */
  #statsBackAt = -Infinity
  /** Start of the time in which all services work (own time). */
  #soundSince: number
  /** Start of each condition that has been true in all checks since (own time), by its description. */
  readonly #since = new Map<string, number>()
  readonly #time: () => number
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** The last check, or the work between two checks. */
  #turn: Promise<unknown> = Promise.resolve()
  #day = ''
  #dayBeganAt = -Infinity
  #checks = 0
  /** Untrue values: a line each, with the number of times that it was displayed. */
  readonly untrue = new Map<string, number>()

  constructor(options: CheckerOptions) {
    this.#options = options
    this.#oracle = new Oracle(options.upstream)
    this.#time = options.time
    this.#soundSince = options.time()
  }

  /** Records the true state of a campaign from now on. */
  campaign(id: string, change: Partial<Omit<TrueCampaign, 'at' | 'ownAt'>>): void {
    const versions = this.#campaigns.get(id) ?? []
    const last = versions.at(-1) ?? { name: id, cost: undefined, videos: [] }
    this.#campaigns.set(id, [...versions, { ...last, ...change, at: this.#options.now(), ownAt: this.#time() }])
  }

  page(kind: PageKind, page: Page, campaign?: string): CheckedPage {
    const checked: CheckedPage = { page, kind, campaign, shown: [] }
    this.#pages.push(checked)
    return checked
  }

  end(page: CheckedPage): void {
    page.endedAt = this.#time()
  }

  /** Records the start or the end of an outage. @param name the name that pages must show */
  outage(name: string, isOver = false): void {
    const now = this.#time()
    if (isOver) this.#outages.delete(name)
    else this.#outages.set(name, now)
    this.#soundSince = this.#outages.size > 0 ? Infinity : now
    if (name !== 'stats') return
    if (isOver) this.#statsBackAt = now
    else this.#unreadableSince = now
  }

  /** True if all services have worked long enough for pages to recover. */
  get #isSound(): boolean {
    return this.#time() - this.#soundSince > DETECTION_MS
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

  /** Runs `work` between two checks: while clocks move, pages and processes have different times. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Checks everything once. */
  check(): Promise<void> {
    return this.exclusive(async () => {
      this.#checks++
      await Promise.all([this.#checkApi(), ...this.#pages.map((page) => this.#checkPage(page))])
    })
  }

  #report(subject: string, line: string): void {
    const text = `${subject}: ${line}`
    this.untrue.set(text, (this.untrue.get(text) ?? 0) + 1)
  }

  /** The states of a campaign in the last `EDIT_DELAY_MS`, the newest last. */
  #recent(id: string): readonly TrueCampaign[] {
    const versions = this.#campaigns.get(id) ?? []
    // After an outage, pages read the changes of that time.
    const isReadable = !this.#outages.has('stats') && this.#time() - this.#statsBackAt > DETECTION_MS
    const shownAt = (isReadable ? this.#time() : Math.min(this.#time(), this.#unreadableSince)) - EDIT_DELAY_MS
    const current = versions.findLastIndex(({ ownAt }) => ownAt <= shownAt)
    return versions.slice(Math.max(0, current))
  }

  /**
   * @param name the displayed one: name and sums are those of one version of the campaign
   * @returns the true sums that equal the displayed ones
   */
  #checkSums(subject: string, id: string, name: string | undefined, shown: ShownSums): readonly TrueSums[] {
    const { impressions, engagements, asOf, isOld } = shown
    const versions = this.#recent(id).filter((one) => name === undefined || one.name === name)
    const equals = (sums: TrueSums) => sums.impressions === impressions && sums.engagements === engagements
    const at = Date.parse(asOf)
    const found = versions.flatMap(({ videos }) => this.#oracle.sumsAsOf(videos, at)).filter(equals)
    if (found.length > 0) return found
    const old = isOld ? versions.flatMap(({ videos }) => this.#oracle.oldSumsAsOf(videos, at)).filter(equals) : []
    if (old.length === 0)
      this.#report(
        subject,
        `${impressions} views and ${engagements} engagements were never true of ${name ?? id} as of ${asOf}`,
      )
    return old
  }

  /** All videos that a campaign has or had. */
  #videosOf(id: string): readonly string[] {
    return [...new Set(this.#campaigns.get(id)!.flatMap(({ videos }) => videos))]
  }

  /** The numbers of a campaign as of a time are no newer (ms since 1970): YouTube states them after a call began. */
  #latestOf(id: string, at: number): number {
    return (this.#oracle.statementAt(this.#videosOf(id), at)?.at ?? at) + REPLY_DISTANCE_MS
  }

  /** @param from the beginning of the window @param to its end */
  #checkGrowth(subject: string, id: string, value: number, from: Span, to: Span): void {
    const versions = this.#campaigns.get(id)!
    const most = this.#oracle.growth(this.#videosOf(id), from.earliest, to.latest)
    // Videos that were in the campaign all the time have certainly grown.
    const before = versions.findLastIndex(({ at }) => at <= from.earliest)
    const inWindow = versions.slice(Math.max(0, before))
    const constant = inWindow[0]!.videos.filter((video) => inWindow.every(({ videos }) => videos.includes(video)))
    const stated = this.#oracle.statedThroughout(constant, from.earliest, to.latest)
    const least = Math.max(0, this.#oracle.growth(stated, from.latest, to.earliest))
    const rounding = ROUNDING_VIEWS * constant.length
    if (value < least - rounding || value > most + rounding)
      this.#report(
        subject,
        `${value} views more since ${new Date(from.latest).toISOString()} in ${id}, where ${least} to ${most} are true`,
      )
  }

  async #checkApi(): Promise<void> {
    const { stats } = this.#options
    const isDown = this.#outages.has('stats')
    const page = await stats.list({ include: ['stats', 'change'] }).catch(() => undefined)
    if (!page && !isDown && !this.#outages.has('stats')) this.#report('API', 'does not answer')
    for (const { id, name, stats: sums, change } of page?.collections ?? []) {
      const subject = `API, ${id}`
      if (this.#isBlank(subject, sums?.asOf) || !sums) continue
      this.#checkOld(subject, sums.stale)
      const found = this.#checkSums(subject, id, name, { ...sums, isOld: sums.stale })
      const hidden = (sums as { hidden?: { likes?: number } }).hidden?.likes ?? 0
      if (found.length > 0 && !found.some((one) => one.hidden.length === hidden))
        this.#report(subject, `likes of ${hidden} videos hidden, where ${found[0]!.hidden.join() || 'none'} are`)
      for (const gone of sums.gone ?? [])
        if (found.length > 0 && !found.some(({ omitted }) => omitted.includes(gone.id)))
          this.#report(subject, `${gone.id} is gone, which YouTube stated`)
      for (const [period, { since, until, impressions, isWhole }] of Object.entries(change ?? {})) {
        const length = { '24h': 1, '7d': 7, '30d': 30 }[period]! * WINDOW_MS
        const [from, to] = [Date.parse(since), Date.parse(until)]
        if (to - from > length)
          this.#report(`${subject}, ${period}`, `a window of ${((to - from) / HOUR_MS).toFixed(1)} h`)
        if (isWhole && to - from !== length)
          this.#report(`${subject}, ${period}`, `a whole window of ${(to - from) / HOUR_MS} h`)
        const startAge = isWhole ? length * MAX_START_AGE_SHARE : 0
        this.#checkGrowth(
          `${subject}, ${period}`,
          id,
          impressions,
          { earliest: from - startAge, latest: isWhole ? from + MINUTE_MS : this.#latestOf(id, from) },
          { earliest: to, latest: this.#latestOf(id, to) },
        )
      }
    }
  }

  /** Returns the time for which a condition has been true in all checks (own time). */
  #lasts(description: string, isSo: boolean): number {
    if (!isSo) this.#since.delete(description)
    else if (!this.#since.has(description)) this.#since.set(description, this.#time())
    return isSo ? this.#time() - this.#since.get(description)! : 0
  }

  /** True if the page shows no numbers. @param asOf time of the shown numbers */
  #isBlank(subject: string, asOf: string | undefined): boolean {
    const lasts = this.#lasts(`${subject} blank`, asOf === undefined)
    if (this.#isSound && lasts > EDIT_DELAY_MS) this.#report(subject, 'shows no numbers')
    return asOf === undefined
  }

  /** Numbers are marked as old in an outage, and otherwise only for the moment that a slow refresh takes. */
  #checkOld(subject: string, isOld: boolean): void {
    const failingSince = Math.max(this.#outages.get('YouTube') ?? Infinity, this.#statsBackAt)
    if (!isOld && !this.#outages.has('stats') && this.#time() - failingSince > DETECTION_MS)
      this.#report(subject, 'numbers without the mark that they are old, in an outage of YouTube')
    const lasts = this.#lasts(`${subject} old`, isOld)
    if (this.#isSound && lasts > DETECTION_MS) this.#report(subject, 'old numbers, where YouTube states new ones')
  }

  async #checkPage(checked: CheckedPage): Promise<void> {
    const { page, kind, campaign } = checked
    const view = await readPageView(page)
    const subject = `${kind} page${campaign === undefined ? '' : ` of ${campaign}`}`
    this.#checkLive(subject, view, checked.endedAt !== undefined)
    if (checked.endedAt !== undefined) this.#checkEnded(subject, view, checked.endedAt)
    else if (kind === 'home') this.#checkHome(subject, view)
    else if (kind === 'health') this.#checkHealth(subject, view)
    else this.#checkCampaign(subject, view, checked)
  }

  #checkLive(subject: string, view: PageView, isEnded: boolean): void {
    // A page whose clock moved was asleep and connects again, and a busy machine may exceed the time of a reply.
    const lasts = this.#lasts(`${subject} not live`, view.dot !== 'live')
    if (this.#isSound && !isEnded && lasts > DETECTION_MS)
      this.#report(subject, `${view.dot}, where all works: ${view.lost.join(' ')}`)
    for (const [name, since] of this.#outages) {
      // Pages know the state of YouTube from stats. After a start, stats must observe it again.
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
      if (this.#isBlank(of, asOf) || asOf === undefined) continue
      const sums = { impressions: numberIn(views), engagements: numberIn(engagements) }
      this.#checkSums(of, id, name, { ...sums, asOf, isOld })
      this.#checkAge(of, id, { asOf, isOld, dot })
      if (rate !== percent(numberIn(engagements) / numberIn(views))) this.#report(of, `rate ${rate}`)
      if (growth) this.#checkShownGrowth(of, id, growth, { asOf, isOld })
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
    if (this.#isBlank(subject, view.asOf) || view.asOf === undefined) return
    const ownAt = this.#time()
    shown.push({ asOf: Date.parse(view.asOf), ownAt })
    const recent = shown.filter((one) => one.ownAt >= ownAt - TABLE_DELAY_MS)
    const oldest = Math.min(...recent.map(({ asOf }) => asOf))
    this.#checkName(subject, id!, view.heading)
    const card = (title: string) => view.cards.find((one) => one.title === title)
    const [views, engagements] = [numberIn(card('Views')!.value), numberIn(card('Engagements')!.value)]
    const { asOf, isOld } = view
    this.#checkSums(subject, id!, view.heading, { impressions: views, engagements, asOf, isOld })
    this.#checkAge(subject, id!, { asOf, isOld, dot: view.dot })
    const growth = card('Views')!.growth
    if (growth) this.#checkShownGrowth(subject, id!, growth, { asOf, isOld })
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
  #checkAge(subject: string, id: string, { asOf, isOld, dot }: { asOf: string; isOld: boolean; dot: string }): void {
    this.#checkOld(subject, isOld)
    if (isOld || dot !== 'live') return
    const videos = this.#recent(id).flatMap((one) => one.videos)
    const first = this.#oracle.statementAt(videos, Date.parse(asOf))
    const newer = first && this.#oracle.statementAfter(videos, first)
    if (newer && this.#time() - newer.ownAt > MAX_AGE_MS)
      this.#report(subject, `Live with numbers of ${asOf}, ${MAX_AGE_MS / 1_000} s after YouTube stated newer ones`)
  }

  #checkShownGrowth(
    subject: string,
    id: string,
    { value, since }: ShownGrowth,
    { asOf, isOld }: Pick<ShownSums, 'asOf' | 'isOld'>,
  ): void {
    const at = Date.parse(asOf)
    const videos = this.#videosOf(id)
    const first = this.#oracle.statementAt(videos, at)
    const to = {
      earliest: (first && this.#oracle.statementBefore(videos, first, HISTORY_DELAY_MS)?.at) ?? at - WINDOW_MS,
      // Some numbers in old sums are newer than the time of the sums.
      latest: isOld ? this.#options.now() : this.#latestOf(id, at),
    }
    const start = at - WINDOW_MS
    const from =
      since === undefined
        ? { earliest: start - MAX_START_AGE_SHARE * WINDOW_MS - MAX_DRIFT_MS, latest: start + MINUTE_MS }
        : { earliest: since, latest: this.#latestOf(id, since + MINUTE_MS) }
    this.#checkGrowth(subject, id, value, from, to)
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
    const time = this.#time()
    const day = quotaDay(now())
    if (day !== this.#day) [this.#day, this.#dayBeganAt] = [day, time]
    if (time - this.#dayBeganAt < HEALTH_DELAY_MS || !/\d/.test(left)) return
    const calls = upstream.calls.filter(({ at }) => quotaDay(at) === day)
    const least = calls.filter(({ ownAt }) => ownAt < time - HEALTH_DELAY_MS).length
    const used = budget - numberIn(left)
    if (used < least || used > calls.length + MAX_UNMADE_CALLS)
      this.#report(subject, `${used} units of quota used, where ${least} to ${calls.length} calls were made on ${day}`)
  }
}
