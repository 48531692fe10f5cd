import type { StatsClient } from '@influencer-stats/stats/client'
import type { FakeUpstream } from './fake-upstream.ts'
import { Oracle, type TrueSums } from './oracle.ts'

const HOUR_MS = 3_600_000
// Tolerances are own time of the test unless they state another clock: a busy machine delays pages as it delays the test.
/** A page names an unavailable part within this time, and recovers within this time: it polls every 5 s, and a reply may take 6 s. */
export const DETECTION_MS = 15_000
/** A page shows an edit within this time: a live value makes it read the campaign, a list at most every 2 s. */
const EDIT_DELAY_MS = 5_000
/** Maximum delay between the requests for the videos of one campaign (moving clock). */
const REPLY_DISTANCE_MS = 5_000
/** A page states a time of another day to the minute; the sums at the beginning of a window are those of this minute. */
export const MINUTE_MS = 60_000
export const WINDOW_MS = 24 * HOUR_MS
/** Numbers at the beginning of a window may be older by this share of it, where YouTube omitted a video then. */
export const MAX_START_AGE_SHARE = 1 / 12
/** Views of a video are whole numbers at both ends of a window, and interpolated ones, too. */
const ROUNDING_VIEWS = 3

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
export interface ShownSums extends Pick<TrueSums, 'impressions' | 'engagements'> {
  readonly asOf: string
  readonly isOld: boolean
}

export interface CheckerOptions {
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

/** The true values, and the checks of values that pages and the API state alike. */
export class TruthChecker {
  protected readonly options: CheckerOptions
  protected readonly oracle: Oracle
  readonly #campaigns = new Map<string, TrueCampaign[]>()
  /** Start of each outage (own time), by the name that pages must show. */
  protected readonly outages = new Map<string, number>()
  /** Start of the time in which stats cannot be read (own time): pages show the values that were true then. */
  #unreadableSince = Infinity
  /** End of the last outage of stats (own time): after it, stats must observe YouTube again. */
  protected statsBackAt = -Infinity
  /** Start of the time in which all services work (own time). */
  #soundSince: number
  /** Start of each condition that has been true in all checks since (own time), by its description. */
  readonly #since = new Map<string, number>()
  protected readonly time: () => number
  /** Untrue values: a line each, with the number of times that it was displayed. */
  readonly untrue = new Map<string, number>()

  constructor(options: CheckerOptions) {
    this.options = options
    this.oracle = new Oracle(options.upstream)
    this.time = options.time
    this.#soundSince = options.time()
  }

  /** Records the true state of a campaign from now on. */
  campaign(id: string, change: Partial<Omit<TrueCampaign, 'at' | 'ownAt'>>): void {
    const versions = this.#campaigns.get(id) ?? []
    const last = versions.at(-1) ?? { name: id, cost: undefined, videos: [] }
    this.#campaigns.set(id, [...versions, { ...last, ...change, at: this.options.now(), ownAt: this.time() }])
  }

  /** Records the start or the end of an outage. @param name the name that pages must show */
  outage(name: string, isOver = false): void {
    const now = this.time()
    if (isOver) this.outages.delete(name)
    else this.outages.set(name, now)
    this.#soundSince = this.outages.size > 0 ? Infinity : now
    if (name !== 'stats') return
    if (isOver) this.statsBackAt = now
    else this.#unreadableSince = now
  }

  /** True if all services have worked long enough for pages to recover. */
  protected get isSound(): boolean {
    return this.time() - this.#soundSince > DETECTION_MS
  }

  protected report(subject: string, line: string): void {
    const text = `${subject}: ${line}`
    this.untrue.set(text, (this.untrue.get(text) ?? 0) + 1)
  }

  /** The states of a campaign in the last `EDIT_DELAY_MS`, the newest last. */
  protected recent(id: string): readonly TrueCampaign[] {
    const versions = this.#campaigns.get(id) ?? []
    // After an outage, pages read the changes of that time.
    const isReadable = !this.outages.has('stats') && this.time() - this.statsBackAt > DETECTION_MS
    const shownAt = (isReadable ? this.time() : Math.min(this.time(), this.#unreadableSince)) - EDIT_DELAY_MS
    const current = versions.findLastIndex(({ ownAt }) => ownAt <= shownAt)
    return versions.slice(Math.max(0, current))
  }

  /**
   * @param name the displayed one: name and sums are those of one version of the campaign
   * @returns the true sums that equal the displayed ones
   */
  protected checkSums(subject: string, id: string, name: string | undefined, shown: ShownSums): readonly TrueSums[] {
    const { impressions, engagements, asOf, isOld } = shown
    const versions = this.recent(id).filter((one) => name === undefined || one.name === name)
    const equals = (sums: TrueSums) => sums.impressions === impressions && sums.engagements === engagements
    const at = Date.parse(asOf)
    const found = versions.flatMap(({ videos }) => this.oracle.sumsAsOf(videos, at)).filter(equals)
    if (found.length > 0) return found
    const old = isOld ? versions.flatMap(({ videos }) => this.oracle.oldSumsAsOf(videos, at)).filter(equals) : []
    if (old.length === 0)
      this.report(
        subject,
        `${impressions} views and ${engagements} engagements were never true of ${name ?? id} as of ${asOf}`,
      )
    return old
  }

  /** All videos that a campaign has or had. */
  protected videosOf(id: string): readonly string[] {
    return [...new Set(this.#campaigns.get(id)!.flatMap(({ videos }) => videos))]
  }

  /** The numbers of a campaign as of a time are no newer (ms since 1970): YouTube states them after a call began. */
  protected latestOf(id: string, at: number): number {
    return (this.oracle.statementAt(this.videosOf(id), at)?.at ?? at) + REPLY_DISTANCE_MS
  }

  /** @param from the beginning of the window @param to its end */
  protected checkGrowth(subject: string, id: string, value: number, from: Span, to: Span): void {
    const versions = this.#campaigns.get(id)!
    const most = this.oracle.growth(this.videosOf(id), from.earliest, to.latest)
    // Videos that were in the campaign all the time have certainly grown.
    const before = versions.findLastIndex(({ at }) => at <= from.earliest)
    const inWindow = versions.slice(Math.max(0, before))
    const constant = inWindow[0]!.videos.filter((video) => inWindow.every(({ videos }) => videos.includes(video)))
    const stated = this.oracle.statedThroughout(constant, from.earliest, to.latest)
    const least = Math.max(0, this.oracle.growth(stated, from.latest, to.earliest))
    const rounding = ROUNDING_VIEWS * constant.length
    if (value < least - rounding || value > most + rounding)
      this.report(
        subject,
        `${value} views more since ${new Date(from.latest).toISOString()} in ${id}, where ${least} to ${most} are true`,
      )
  }

  protected async checkApi(): Promise<void> {
    const { stats } = this.options
    const isDown = this.outages.has('stats')
    const page = await stats.list({ include: ['stats', 'change'] }).catch(() => undefined)
    if (!page && !isDown && !this.outages.has('stats')) this.report('API', 'does not answer')
    for (const { id, name, stats: sums, change } of page?.collections ?? []) {
      const subject = `API, ${id}`
      if (this.isBlank(subject, sums?.asOf) || !sums) continue
      this.checkOld(subject, sums.stale)
      const found = this.checkSums(subject, id, name, { ...sums, isOld: sums.stale })
      const hidden = (sums as { hidden?: { likes?: number } }).hidden?.likes ?? 0
      if (found.length > 0 && !found.some((one) => one.hidden.length === hidden))
        this.report(subject, `likes of ${hidden} videos hidden, where ${found[0]!.hidden.join() || 'none'} are`)
      for (const gone of sums.gone ?? [])
        if (found.length > 0 && !found.some(({ omitted }) => omitted.includes(gone.id)))
          this.report(subject, `${gone.id} is gone, which YouTube stated`)
      for (const [period, { since, until, impressions, isWhole }] of Object.entries(change ?? {})) {
        const length = { '24h': 1, '7d': 7, '30d': 30 }[period]! * WINDOW_MS
        const [from, to] = [Date.parse(since), Date.parse(until)]
        if (to - from > length)
          this.report(`${subject}, ${period}`, `a window of ${((to - from) / HOUR_MS).toFixed(1)} h`)
        if (isWhole && to - from !== length)
          this.report(`${subject}, ${period}`, `a whole window of ${(to - from) / HOUR_MS} h`)
        const startAge = isWhole ? length * MAX_START_AGE_SHARE : 0
        this.checkGrowth(
          `${subject}, ${period}`,
          id,
          impressions,
          { earliest: from - startAge, latest: isWhole ? from + MINUTE_MS : this.latestOf(id, from) },
          { earliest: to, latest: this.latestOf(id, to) },
        )
      }
    }
  }

  /** Returns the time for which a condition has been true in all checks (own time). */
  protected lasts(description: string, isSo: boolean): number {
    if (!isSo) this.#since.delete(description)
    else if (!this.#since.has(description)) this.#since.set(description, this.time())
    return isSo ? this.time() - this.#since.get(description)! : 0
  }

  /** True if the page shows no numbers. @param asOf time of the shown numbers */
  protected isBlank(subject: string, asOf: string | undefined): boolean {
    const lasts = this.lasts(`${subject} blank`, asOf === undefined)
    if (this.isSound && lasts > EDIT_DELAY_MS) this.report(subject, 'shows no numbers')
    return asOf === undefined
  }

  /** Numbers are marked as old in an outage, and otherwise only for the moment that a slow refresh takes. */
  protected checkOld(subject: string, isOld: boolean): void {
    const failingSince = Math.max(this.outages.get('YouTube') ?? Infinity, this.statsBackAt)
    if (!isOld && !this.outages.has('stats') && this.time() - failingSince > DETECTION_MS)
      this.report(subject, 'numbers without the mark that they are old, in an outage of YouTube')
    const lasts = this.lasts(`${subject} old`, isOld)
    if (this.isSound && lasts > DETECTION_MS) this.report(subject, 'old numbers, where YouTube states new ones')
  }
}
