import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { createFormats } from '../../../src/page/core/format.ts'
import { readPageView, type PageView, type ShownGrowth } from './page-view.ts'
import {
  DETECTION_MS,
  MAX_START_AGE_SHARE,
  MINUTE_MS,
  WINDOW_MS,
  TruthChecker,
  type ShownSums,
} from './truth-checker.ts'

const CHECK_INTERVAL_MS = 1_000
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
/** A page adds live values to the growth in a window until it is longer by 2 %. */
const MAX_DRIFT_MS = 0.02 * WINDOW_MS

const count = (value: number) => value.toLocaleString('en-US')
const formats = createFormats('en-US')
const { percent } = formats
const money = (value: number) => formats.money(value, 'EUR')
/** The quota counts days in California. */
const quotaDay = (at: number) => new Date(at).toLocaleDateString('en-US', { timeZone: 'America/Los_Angeles' })
const numberIn = (text: string) => Number(text.replaceAll(/[^\d]/g, ''))

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

/** Compares the values of pages and API with the true values, every second. */
export class Checker extends TruthChecker {
  readonly #pages: CheckedPage[] = []
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** The last check, or the work between two checks. */
  #turn: Promise<unknown> = Promise.resolve()
  #day = ''
  #dayBeganAt = -Infinity
  #checks = 0
  page(kind: PageKind, page: Page, campaign?: string): CheckedPage {
    const checked: CheckedPage = { page, kind, campaign, shown: [] }
    this.#pages.push(checked)
    return checked
  }

  end(page: CheckedPage): void {
    page.endedAt = this.time()
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
      await Promise.all([this.checkApi(), ...this.#pages.map((page) => this.#checkPage(page))])
    })
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
    const lasts = this.lasts(`${subject} not live`, view.dot !== 'live')
    if (this.isSound && !isEnded && lasts > DETECTION_MS)
      this.report(subject, `${view.dot}, where all works: ${view.lost.join(' ')}`)
    for (const [name, since] of this.outages) {
      // Pages know the state of YouTube from stats. After a start, stats must observe it again.
      const knowsSince = name === 'stats' ? since : Math.max(since, this.statsBackAt)
      if (this.time() - knowsSince < DETECTION_MS) continue
      if (view.dot === 'live') this.report(subject, `Live, ${DETECTION_MS / 1_000} s after ${name} stopped`)
      const isKnown = name === 'stats' || !this.outages.has('stats')
      if (isKnown && !isEnded && !view.lost.some((text) => text.includes(name)))
        this.report(subject, `does not name ${name}, which does not work`)
    }
  }

  /** The page of a link that ended shows a sentence and no campaign. */
  #checkEnded(subject: string, view: PageView, endedAt: number): void {
    if (this.time() - endedAt < DETECTION_MS) return
    if (view.cards.length > 0 || view.videos.length > 0)
      this.report(subject, `numbers by a link that ended: ${view.heading}`)
    if (!/no longer valid/.test(view.text)) this.report(subject, `no reason for a link that ended: ${view.text}`)
  }

  #checkHome(subject: string, { rows, cards, dot }: PageView): void {
    for (const { id, name, views, growth, engagements, rate, asOf, isOld } of rows) {
      const of = `${subject}, ${id}`
      this.#checkName(of, id, name)
      if (this.isBlank(of, asOf) || asOf === undefined) continue
      const sums = { impressions: numberIn(views), engagements: numberIn(engagements) }
      this.checkSums(of, id, name, { ...sums, asOf, isOld })
      this.#checkAge(of, id, { asOf, isOld, dot })
      if (rate !== percent(numberIn(engagements) / numberIn(views))) this.report(of, `rate ${rate}`)
      if (growth) this.#checkShownGrowth(of, id, growth, { asOf, isOld })
    }
    const total = (title: string) => cards.find((card) => card.title === title)?.value
    const sum = (name: 'views' | 'engagements') => count(rows.reduce((all, row) => all + numberIn(row[name]), 0))
    for (const [title, shown] of [
      ['Views', sum('views')],
      ['Engagements', sum('engagements')],
    ] as const)
      if (total(title) !== undefined && total(title) !== shown)
        this.report(subject, `${title} of all campaigns ${total(title)}, where the rows have ${shown}`)
  }

  #checkCampaign(subject: string, view: PageView, { campaign: id, kind, shown }: CheckedPage): void {
    if (this.isBlank(subject, view.asOf) || view.asOf === undefined) return
    const ownAt = this.time()
    shown.push({ asOf: Date.parse(view.asOf), ownAt })
    const recent = shown.filter((one) => one.ownAt >= ownAt - TABLE_DELAY_MS)
    const oldest = Math.min(...recent.map(({ asOf }) => asOf))
    this.#checkName(subject, id!, view.heading)
    const card = (title: string) => view.cards.find((one) => one.title === title)
    const [views, engagements] = [numberIn(card('Views')!.value), numberIn(card('Engagements')!.value)]
    const { asOf, isOld } = view
    this.checkSums(subject, id!, view.heading, { impressions: views, engagements, asOf, isOld })
    this.#checkAge(subject, id!, { asOf, isOld, dot: view.dot })
    const growth = card('Views')!.growth
    if (growth) this.#checkShownGrowth(subject, id!, growth, { asOf, isOld })
    const rate = card('Engagement rate')!.value
    if (rate !== percent(engagements / views)) this.report(subject, `rate ${rate}`)
    const price = card('Per thousand views')?.value
    const prices = this.recent(id!).map(({ cost }) => (cost === undefined ? undefined : money((cost / views) * 1_000)))
    if (kind === 'shared' ? price !== undefined : !prices.includes(price))
      this.report(subject, `costs of a thousand views: ${price}, where it is ${prices.at(-1)}`)
    for (const video of view.videos) this.#checkVideo(`${subject}, ${video.id}`, video, oldest)
  }

  #checkVideo(subject: string, { id, counts, badges }: PageView['videos'][number], asOf: number): void {
    const recent = this.oracle.statedSince(id, asOf, TABLE_DELAY_MS)
    const stated = recent.length > 0 ? recent : this.oracle.statedSince(id, 0, 0).slice(-1)
    const shown = counts.join(' ')
    const right = stated.map(({ views, likes, comments }) =>
      [count(views), likes === undefined ? '–' : count(likes), count(comments)].join(' '),
    )
    if (stated.length === 0) right.push('– – –')
    if (!right.includes(shown)) this.report(subject, `shows ${shown}, where YouTube stated ${right.at(-1)}`)
    if (shown.includes('–') && badges === '') this.report(subject, `shows ${shown} without a reason`)
  }

  #checkName(subject: string, id: string, name: string): void {
    const names = this.recent(id).map((one) => one.name)
    if (!names.includes(name)) this.report(subject, `is named ${name}, where it is ${names.at(-1)}`)
  }

  /** Under "Live" are numbers of this moment, unless they are marked as old. */
  #checkAge(subject: string, id: string, { asOf, isOld, dot }: { asOf: string; isOld: boolean; dot: string }): void {
    this.checkOld(subject, isOld)
    if (isOld || dot !== 'live') return
    const videos = this.recent(id).flatMap((one) => one.videos)
    const first = this.oracle.statementAt(videos, Date.parse(asOf))
    const newer = first && this.oracle.statementAfter(videos, first)
    if (newer && this.time() - newer.ownAt > MAX_AGE_MS)
      this.report(subject, `Live with numbers of ${asOf}, ${MAX_AGE_MS / 1_000} s after YouTube stated newer ones`)
  }

  #checkShownGrowth(
    subject: string,
    id: string,
    { value, since }: ShownGrowth,
    { asOf, isOld }: Pick<ShownSums, 'asOf' | 'isOld'>,
  ): void {
    const at = Date.parse(asOf)
    const videos = this.videosOf(id)
    const first = this.oracle.statementAt(videos, at)
    const to = {
      earliest: (first && this.oracle.statementBefore(videos, first, HISTORY_DELAY_MS)?.at) ?? at - WINDOW_MS,
      // Some numbers in old sums are newer than the time of the sums.
      latest: isOld ? this.options.now() : this.latestOf(id, at),
    }
    const start = at - WINDOW_MS
    const from =
      since === undefined
        ? { earliest: start - MAX_START_AGE_SHARE * WINDOW_MS - MAX_DRIFT_MS, latest: start + MINUTE_MS }
        : { earliest: since, latest: this.latestOf(id, since + MINUTE_MS) }
    this.checkGrowth(subject, id, value, from, to)
  }

  #checkHealth(subject: string, { cards }: PageView): void {
    const since = (name: string) => this.time() - (this.outages.get(name) ?? Infinity)
    const shown = cards.map(({ title, value, note }) => `${title}: ${value} ${note}`).join('; ')
    if (since('stats') > DETECTION_MS && /no limit|all fresh|\d/.test(shown))
      this.report(subject, `knows without stats: ${shown}`)
    if (since('YouTube') > DETECTION_MS && /all fresh/.test(shown))
      this.report(subject, `fresh without YouTube: ${shown}`)
    this.#checkQuota(subject, cards.find(({ title }) => title === 'Quota left today')?.value ?? '')
  }

  #checkQuota(subject: string, left: string): void {
    const { upstream, budget, now } = this.options
    const time = this.time()
    const day = quotaDay(now())
    if (day !== this.#day) [this.#day, this.#dayBeganAt] = [day, time]
    if (time - this.#dayBeganAt < HEALTH_DELAY_MS || !/\d/.test(left)) return
    const calls = upstream.calls.filter(({ at }) => quotaDay(at) === day)
    const least = calls.filter(({ ownAt }) => ownAt < time - HEALTH_DELAY_MS).length
    const used = budget - numberIn(left)
    if (used < least || used > calls.length + MAX_UNMADE_CALLS)
      this.report(subject, `${used} units of quota used, where ${least} to ${calls.length} calls were made on ${day}`)
  }
}
