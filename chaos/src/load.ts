import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

/** A request that is sent repeatedly. */
export interface RepeatedRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  /** Returns the path of the n-th request. */
  path(n: number): string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Outcomes of the requests of a time window. */
export interface LoadOutcome {
  /** Number of replies with a status below 300. */
  accepted: number
  /** Number of 503 replies with `Retry-After`. */
  refused: number
  /** Numbers of other outcomes, by status or error code. */
  readonly others: Record<string, number>
  /** Accepted requests per second. */
  readonly perSecond: number
  /** 99th percentile of the durations of accepted requests, and of requests that still wait (ms). */
  readonly p99: number
}

export interface OverloadPlan {
  readonly seconds: number
  /** Requests per second. Without it, 16 connections each send a request as soon as they have the previous reply. */
  readonly perSecond?: number
  /** Called each second with the outcomes of the last 3 seconds. Ends the load if it returns true. */
  shouldStop?(recent: LoadOutcome): boolean
}

/** A request that was sent: the time (ms), its duration (ms; undefined while it waits), and its outcome. */
interface SentRequest {
  readonly at: number
  durationMs: number | undefined
  outcome: 'waiting' | 'accepted' | 'refused' | string
}

/** Maximum number of requests that wait for a reply, if requests are sent at a rate. */
const CONNECTIONS = 512
/** Request timeout (ms). */
const REQUEST_TIMEOUT_MS = 30_000
/** Window of recent requests (ms). */
const RECENT_WINDOW_MS = 3_000

/**
 * Sends requests for some seconds, or until `shouldStop` returns true.
 * @returns outcomes of all requests or, with `shouldStop`, of the last 3 seconds
 */
export async function load(
  url: string,
  repeatedRequest: RepeatedRequest,
  { seconds, perSecond, shouldStop }: OverloadPlan,
): Promise<LoadOutcome> {
  const connections = perSecond ? CONNECTIONS : 16
  const pool = new Pool(url, { connections, headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS })
  const all: SentRequest[] = []
  let waiting = 0
  const start = performance.now()
  let end = start + seconds * 1_000

  async function send(): Promise<void> {
    const { method, path, headers, body } = repeatedRequest
    // The duration counts from the send time, not from the due time: a delay of the generator is no delay of the
    // service.
    const sent: SentRequest = { at: performance.now(), durationMs: undefined, outcome: 'waiting' }
    all.push(sent)
    waiting++
    try {
      const {
        statusCode,
        headers: fields,
        body: reply,
      } = await pool.request({ method, path: path(all.length), headers, body })
      await reply.dump({ limit: Infinity })
      if (statusCode < 300) sent.outcome = 'accepted'
      else sent.outcome = statusCode === 503 && fields['retry-after'] ? 'refused' : String(statusCode)
    } catch (error) {
      sent.outcome = (error as NodeJS.ErrnoException).code ?? String(error)
    }
    sent.durationMs = performance.now() - sent.at
    waiting--
  }

  let recent: LoadOutcome | undefined
  const recentTimer = setInterval(() => {
    const now = performance.now()
    if (!shouldStop || now - start < 2 * RECENT_WINDOW_MS) return
    recent = toOutcome(
      // Requests are selected by their end, not by their start. Otherwise, if all requests take longer than the window,
      // no selected request has ended.
      all.filter(({ at, durationMs }) => durationMs === undefined || now - at - durationMs < RECENT_WINDOW_MS),
      now,
      RECENT_WINDOW_MS,
    )
    if (shouldStop(recent)) end = now
  }, 1_000)
  if (perSecond) {
    const sending: Promise<void>[] = []
    let scheduled = 0
    while (performance.now() < end) {
      const due = Math.floor(((performance.now() - start) / 1_000) * perSecond)
      // A request is sent only if a connection is free, because a wait for a connection is no delay of the service.
      for (; scheduled < due; scheduled++) if (waiting < connections) sending.push(send())
      await delay(1)
    }
    clearInterval(recentTimer)
    await Promise.all(sending)
  } else {
    const one = async () => {
      while (performance.now() < end) await send()
    }
    await Promise.all(Array.from({ length: connections }, one))
    clearInterval(recentTimer)
  }
  const now = performance.now()
  await pool.destroy()
  return recent ?? toOutcome(all, now, now - start)
}

/** @param elapsed duration of the time window (ms) */
function toOutcome(requests: readonly SentRequest[], now: number, elapsed: number): LoadOutcome {
  const outcome = { accepted: 0, refused: 0, others: {} as Record<string, number> }
  const times: number[] = []
  for (const { at, durationMs, outcome: result } of requests) {
    if (result === 'accepted' || result === 'waiting') times.push(durationMs ?? now - at)
    if (result === 'accepted') outcome.accepted++
    else if (result === 'refused') outcome.refused++
    else if (result !== 'waiting') outcome.others[result] = (outcome.others[result] ?? 0) + 1
  }
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? NaN
  return { ...outcome, perSecond: (outcome.accepted / elapsed) * 1_000, p99 }
}
