import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

/** A request that a load sends repeatedly. */
export interface RepeatedRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  path(n: number): string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Outcomes of the requests of some time. Durations in milliseconds. */
export interface LoadOutcome {
  accepted: number
  /** 503 with Retry-After. */
  refused: number
  /** Other outcomes, by name. */
  readonly others: Record<string, number>
  /** Accepted requests per second. */
  readonly perSecond: number
  /** 99th percentile of accepted requests and of those that still wait. */
  readonly p99: number
}

export interface OverloadPlan {
  readonly seconds: number
  /** Absent: as fast as 16 connections receive answers. */
  readonly perSecond?: number
  /** Called each second with the recent outcomes. Ends the load if it returns true. */
  enough?(lately: LoadOutcome): boolean
}

/** A request that was sent. */
interface SentRequest {
  readonly at: number
  took: number | undefined
  became: 'waiting' | 'accepted' | 'refused' | string
}

/** Clients in an overload: each waits for an answer before its next request. */
const CONNECTIONS = 512
/** Request timeout (ms). */
const REQUEST_TIMEOUT_MS = 30_000
/** Window of recent requests (ms). */
const RECENT_WINDOW_MS = 3_000

/** Sends for some seconds, or until `enough`. @returns outcomes of all requests, or of the recent ones with `enough` */
export async function load(
  url: string,
  repeatedRequest: RepeatedRequest,
  { seconds, perSecond, enough }: OverloadPlan,
): Promise<LoadOutcome> {
  const connections = perSecond ? CONNECTIONS : 16
  const pool = new Pool(url, { connections, headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS })
  const all: SentRequest[] = []
  let waiting = 0
  const start = performance.now()
  let end = start + seconds * 1_000

  async function send(): Promise<void> {
    const { method, path, headers, body } = repeatedRequest
    // Counts from the send time, not the due time: the generator's delay is not the service's.
    const sent: SentRequest = { at: performance.now(), took: undefined, became: 'waiting' }
    all.push(sent)
    waiting++
    try {
      const {
        statusCode,
        headers: fields,
        body: reply,
      } = await pool.request({ method, path: path(all.length), headers, body })
      await reply.dump({ limit: Infinity })
      if (statusCode < 300) sent.became = 'accepted'
      else sent.became = statusCode === 503 && fields['retry-after'] ? 'refused' : String(statusCode)
    } catch (error) {
      sent.became = (error as NodeJS.ErrnoException).code ?? String(error)
    }
    sent.took = performance.now() - sent.at
    waiting--
  }

  let recent: LoadOutcome | undefined
  const looking = setInterval(() => {
    const now = performance.now()
    if (!enough || now - start < 2 * RECENT_WINDOW_MS) return
    recent = toOutcome(
      // Selected by end time, not by send time: if all wait for longer than the window, none of the recently sent has
      // ended.
      all.filter(({ at, took }) => took === undefined || now - at - took < RECENT_WINDOW_MS),
      now,
      RECENT_WINDOW_MS,
    )
    if (enough(recent)) end = now
  }, 1_000)
  if (perSecond) {
    const sending: Promise<void>[] = []
    let requested = 0
    while (performance.now() < end) {
      const due = Math.floor(((performance.now() - start) / 1_000) * perSecond)
      // Sends only if a connection is free, because a wait for a connection is not a wait for the service.
      for (; requested < due; requested++) if (waiting < connections) sending.push(send())
      await delay(1)
    }
    clearInterval(looking)
    await Promise.all(sending)
  } else {
    const one = async () => {
      while (performance.now() < end) await send()
    }
    await Promise.all(Array.from({ length: connections }, one))
    clearInterval(looking)
  }
  const now = performance.now()
  await pool.destroy()
  return recent ?? toOutcome(all, now, now - start)
}

/** @param elapsed time in which they were answered (ms) */
function toOutcome(requests: readonly SentRequest[], now: number, elapsed: number): LoadOutcome {
  const outcome = { accepted: 0, refused: 0, others: {} as Record<string, number> }
  const times: number[] = []
  for (const { at, took, became } of requests) {
    if (became === 'accepted' || became === 'waiting') times.push(took ?? now - at)
    if (became === 'accepted') outcome.accepted++
    else if (became === 'refused') outcome.refused++
    else if (became !== 'waiting') outcome.others[became] = (outcome.others[became] ?? 0) + 1
  }
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? NaN
  return { ...outcome, perSecond: (outcome.accepted / elapsed) * 1_000, p99 }
}
