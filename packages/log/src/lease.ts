import { setTimeout as delay } from 'node:timers/promises'
import type { LeaseRequest } from './order/order.ts'
import { leaseLost, unavailable } from './errors.ts'
import type { Appended, Lease, LeaseState } from './log.ts'

export interface LeaseOptions {
  /** This node, for this life of it. */
  readonly holder: string
  /** ms */
  readonly ttl: number
  /** Puts a request into the log. Resolves with the lease as it is then. */
  ask(request: LeaseRequest): Promise<LeaseState>
  /** How long nobody else may take it, as far as this node knows (ms). */
  left(): number
  /** Appends what counts only in this term. */
  append<T>(kind: number, body: Buffer, term: number): Promise<Appended<T>>
}

// A third, so that one that is lost does not cost the lease.
const RENEWALS = 3
const RETRY_AFTER = 200
const GIVE_UP_WITHIN = 1_000

/** A lease, and how it hears of the others. */
export interface OwnLease extends Lease {
  /** Somebody has taken, prolonged or given up the lease: `left` is another. */
  changed(): void
}

/** Takes part in the lease until it is closed. */
export function createLease({ holder, ttl, ask, left, append }: LeaseOptions): OwnLease {
  const closing = Promise.withResolvers<void>()
  let changed = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<void>[] = []
  let isClosed = false
  /** Whether it was this one's when it asked last. */
  let isOwn = false
  /** It may be given what it asked for. */
  let isAsking = false
  let term: number | undefined
  let until = 0

  const held = () => (performance.now() < until ? term : undefined)

  /** Resolves after so long, or when it is closed. */
  function pause(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>()
    const timeout = setTimeout(timer.resolve, ms)
    return Promise.race([timer.promise, closing.promise]).finally(() => clearTimeout(timeout))
  }

  /** Until another's time is over, or it gives it up. */
  async function othersTime(): Promise<void> {
    changed = Promise.withResolvers()
    await Promise.race([pause(Math.max(left(), 1)), changed.promise])
  }

  async function turn(): Promise<void> {
    const askedAt = performance.now()
    isAsking = true
    const lease = await Promise.race([ask({ holder, ttl }), closing.promise])
    if (!lease) return
    isAsking = false
    isOwn = lease.holder === holder
    if (!isOwn) return othersTime()
    term = lease.term
    // From before it asked: the log's time of it can only be later.
    until = askedAt + ttl
    // Granted too late: it stands in the log as this one's, who cannot use it without asking anew.
    if (held() === undefined) return
    for (const one of waiting) one.resolve()
    waiting = []
    await pause(ttl / RENEWALS)
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      if (!isOwn && left() > 0) {
        await othersTime()
        continue
      }
      await turn().catch(() => pause(RETRY_AFTER))
    }
    // What it holds ends by itself where the log cannot be told.
    const given = (held() !== undefined || isAsking) && ask({ holder, ttl: 0 }).catch(() => {})
    if (given) await Promise.race([given, delay(GIVE_UP_WITHIN, undefined, { ref: false })])
    until = 0
  }

  const running = run()
  return {
    get term() {
      return held()
    },
    async append<T>(kind: number, body: Buffer) {
      const current = held()
      if (current === undefined) throw leaseLost()
      return append<T>(kind, body, current)
    },
    held() {
      if (isClosed) return Promise.reject(unavailable())
      if (held() !== undefined) return Promise.resolve()
      const one = Promise.withResolvers<void>()
      waiting.push(one)
      return one.promise
    },
    async lost() {
      while (!isClosed && held() !== undefined) await pause(until - performance.now())
    },
    changed: () => changed.resolve(),
    close() {
      isClosed = true
      closing.resolve()
      for (const one of waiting) one.reject(unavailable())
      waiting = []
      return running
    },
  }
}
