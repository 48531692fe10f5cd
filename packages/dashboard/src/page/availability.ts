import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { ServiceStatus } from '../core/system-status.ts'
import { readStatus, signInNeeded, type StatusReply } from './api.ts'
import { isFailing, listReasons, mergeLastOutage, type UpstreamStatus } from './core/upstream-status.ts'
import { Listeners } from './listeners.ts'
import type { LiveStream, LiveUpdates, StreamState } from './live-stream.ts'
import { text } from './texts/texts.ts'

/** Time between two polls (ms). With `REPLY_TIMEOUT_MS` it makes 11 s, so the page detects an outage within 15 s. */
const POLL_INTERVAL_MS = 5_000
const REPLY_TIMEOUT_MS = 6_000
/** A page whose timers paused for longer was asleep: its stream may be dead without an event (ms). */
const MIN_SLEEP_MS = 30_000
/** Numbers are live only while all of these work. */
const NUMBER_SERVICES: ReadonlySet<string> = new Set(['stats', 'sse'])

/** A service, YouTube or the stream that does not work, in words. */
export interface ServiceIssue {
  readonly name: string
  readonly text: string
  /** True if the numbers on the page are not live because of this issue. */
  readonly stopsLiveNumbers: boolean
  /** Time at which `name` last worked. If `stopsLiveNumbers`: time at which the numbers were last live (ms since 1970). */
  readonly workedAt?: number | undefined
}

export interface AvailabilityState {
  /** State of the dot at the top of the page: `live` only if the stream, stats, sse and YouTube work. */
  readonly dot: StreamState
  readonly issues: readonly ServiceIssue[]
  /** The last reply of the dashboard about its services. */
  readonly status: StatusReply | undefined
  /** True if the share link of this page has expired, was revoked, or never existed: nothing will come live again. */
  readonly isEnded: boolean
}

/** Statuses of the replies to a share link that does not exist or is no longer valid. */
const ENDED_STATUSES: ReadonlySet<number> = new Set([404, 410])

const DASHBOARD_NAME = 'dashboard'
const STREAM_NAME = 'stream'
const UPSTREAM_NAME = 'YouTube'

/** The consequence of an outage of each service for the page. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  stats: text('consequence.stats'),
  sse: text('consequence.sse'),
  prices: text('consequence.prices'),
}

const findFailed = (status: StatusReply | undefined) => (status?.services ?? []).filter(({ state }) => state !== 'ok')

function describeFault(name: string, state: ServiceStatus['state'], detail: string | undefined): string {
  if (state === 'unavailable') return text('issue.unavailable', { name })
  return detail ? text('issue.notReadyDetail', { name, detail }) : text('issue.notReady', { name })
}

/** Decides if the page is live. It polls the state of the services and combines it with the state of the stream. */
export class Availability {
  readonly #live: LiveStream
  readonly #url: string
  readonly changes = new Listeners()
  readonly #workedAt = new Map<string, number>()
  #liveAt: number | undefined
  /** Last known state of YouTube. */
  #lastUpstream: UpstreamStatus | undefined
  #isReachable = true
  #isEnded = false
  #polledAt = Date.now()
  /** Number of the newest poll: replies to older polls are ignored. */
  #turn = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  state: AvailabilityState = { dot: 'connecting', issues: [], status: undefined, isEnded: false }

  /** @param url of the state of the services */
  constructor(url: string, live: LiveStream) {
    this.#url = url
    this.#live = live
    live.listen({
      values: (updates) => this.#applyValues(updates),
      state: (state) => {
        // The reply states which service failed, so that the page names it at once.
        if (state === 'lost') void this.#poll()
        this.#update()
      },
    })
    document.addEventListener('visibilitychange', () => document.hidden || void this.#poll())
    void this.#poll()
  }

  async #poll(): Promise<void> {
    clearTimeout(this.#timer)
    const turn = ++this.#turn
    const wasAsleep = Date.now() - this.#polledAt > MIN_SLEEP_MS
    this.#polledAt = Date.now()
    const wasReachable = this.#isReachable
    let status: StatusReply | undefined
    try {
      status = await readStatus(this.#url, AbortSignal.timeout(REPLY_TIMEOUT_MS))
      if (turn !== this.#turn) return
      this.#isReachable = true
      this.#isEnded = false
    } catch (error) {
      if (turn !== this.#turn) return
      const isRefused = error instanceof ServiceError && error.status < 500
      this.#isReachable = isRefused
      this.#isEnded = isRefused && ENDED_STATUSES.has(error.status)
      if (isRefused && error.code === 'SIGN_IN_NEEDED') signInNeeded.notify()
      // Another refusal, such as that of an expired share link: the screens read their data again and show the error.
      else if (isRefused) this.#live.reportGap()
    }
    this.#timer = setTimeout(() => document.hidden || void this.#poll(), POLL_INTERVAL_MS)
    if (status) this.#applyReply(status, wasAsleep || !wasReachable)
    this.#update()
  }

  /** The numbers of a live page are those of its newest values, also between two polls. */
  #applyValues(updates: LiveUpdates): void {
    if (this.state.dot !== 'live') return
    for (const { asOf } of updates.values()) this.#liveAt = Math.max(this.#liveAt ?? 0, Date.parse(asOf ?? '') || 0)
  }

  /** @param wasInterrupted true if the dashboard was unreachable, or the page asleep, before this reply */
  #applyReply(reply: StatusReply, wasInterrupted: boolean): void {
    const upstream = mergeLastOutage(reply.upstream, this.#lastUpstream)
    const status = upstream ? { ...reply, upstream } : reply
    if (upstream && upstream.state !== 'unknown') this.#lastUpstream = upstream
    const failed = new Set(findFailed(status).map(({ name }) => name))
    const recovered = findFailed(this.state.status).filter(({ name }) => !failed.has(name))
    const at = Date.parse(status.at)
    for (const { name } of status.services) if (!failed.has(name)) this.#workedAt.set(name, at)
    this.state = { ...this.state, status }
    if (wasInterrupted || recovered.some(({ name }) => name === 'sse')) this.#live.reconnect()
    if (wasInterrupted || recovered.length > 0) this.#live.reportGap()
  }

  #update(): void {
    const { status } = this.state
    // A page that was opened in an outage learns from stats when the numbers stopped.
    if (isFailing(status?.upstream) && status.upstream.since) this.#liveAt ??= Date.parse(status.upstream.since)
    const issues = this.#isEnded
      ? []
      : this.#isReachable
        ? this.#findIssues(status)
        : [this.#toIssue(DASHBOARD_NAME, text('issue.dashboard'), true)]
    const isLive = this.#live.state === 'live' && !issues.some(({ stopsLiveNumbers }) => stopsLiveNumbers)
    const isUnknown = issues.length === 0 && this.#live.state !== 'lost' && !(isLive && status)
    const dot = isUnknown ? 'connecting' : isLive ? 'live' : 'lost'
    if (status && dot === 'live') this.#liveAt = Math.max(this.#liveAt ?? 0, Date.parse(status.at))
    this.state = { dot, issues, status, isEnded: this.#isEnded }
    this.changes.notify()
  }

  #findIssues(status: StatusReply | undefined): ServiceIssue[] {
    const issues = findFailed(status).map(({ name, state, detail }) => {
      const fault = describeFault(name, state, detail)
      return this.#toIssue(name, [fault, CONSEQUENCES[name] ?? []].flat().join(' '), NUMBER_SERVICES.has(name))
    })
    const { upstream } = status ?? {}
    if (isFailing(upstream))
      issues.push(this.#toIssue(UPSTREAM_NAME, [text('issue.youtube'), ...listReasons(upstream)].join(' '), true))
    if (this.#live.state === 'lost' && issues.length === 0)
      issues.push(this.#toIssue(STREAM_NAME, text('issue.stream'), true))
    return issues
  }

  #toIssue(name: string, words: string, stopsLiveNumbers: boolean): ServiceIssue {
    return { name, text: words, stopsLiveNumbers, workedAt: stopsLiveNumbers ? this.#liveAt : this.#workedAt.get(name) }
  }
}
