import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

/** A request that a load sends again and again. */
export interface Ask {
  readonly method: 'GET' | 'PUT' | 'POST'
  path(n: number): string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** What became of a load. Durations in milliseconds, of requests that were accepted. */
export interface Outcome {
  accepted: number
  /** 503 with Retry-After. */
  refused: number
  /** What else came, by what it was. */
  readonly others: Record<string, number>
  readonly perSecond: number
  readonly p99: number
}

const CONNECTIONS = 512
/** Nobody waits longer (ms). */
const PATIENCE = 20_000

/**
 * Sends for some seconds, at a pace or (without one) as fast as 16 connections get answers.
 * @param settles so many seconds before, whose requests do not count
 */
export async function load(url: string, ask: Ask, seconds: number, perSecond?: number, settles = 0): Promise<Outcome> {
  const pool = new Pool(url, {
    connections: perSecond ? CONNECTIONS : 16,
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  })
  const times: number[] = []
  const outcome = { accepted: 0, refused: 0, others: {} as Record<string, number> }
  const count = (what: string) => (outcome.others[what] = (outcome.others[what] ?? 0) + 1)
  let n = 0
  const start = performance.now()
  const counted = start + settles * 1_000
  const end = counted + seconds * 1_000

  async function send(): Promise<void> {
    const { method, path, headers, body } = ask
    // Not from when it was due: what the generator itself is late with is not the service's.
    const sentAt = performance.now()
    try {
      const reply = await pool.request({ method, path: path(n++), headers, body })
      await reply.body.dump({ limit: Infinity })
      if (sentAt < counted) return
      if (reply.statusCode < 300) {
        outcome.accepted++
        times.push(performance.now() - sentAt)
      } else if (reply.statusCode === 503 && reply.headers['retry-after']) outcome.refused++
      else count(String(reply.statusCode))
    } catch (error) {
      count((error as NodeJS.ErrnoException).code ?? String(error))
    }
  }

  if (perSecond) {
    const sent: Promise<void>[] = []
    while (performance.now() < end) {
      const due = Math.floor(((performance.now() - start) / 1_000) * perSecond)
      while (sent.length < due) sent.push(send())
      await delay(1)
    }
    await Promise.all(sent)
  } else {
    const one = async () => {
      while (performance.now() < end) await send()
    }
    await Promise.all(Array.from({ length: 16 }, one))
  }
  const elapsed = (performance.now() - counted) / 1_000
  await pool.destroy()
  times.sort((a, b) => a - b)
  return { ...outcome, perSecond: outcome.accepted / elapsed, p99: times[Math.floor(times.length * 0.99)] ?? NaN }
}
