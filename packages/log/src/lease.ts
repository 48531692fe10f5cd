import { setTimeout as delay } from 'node:timers/promises'
import type { LeaseRequest } from './order/sequencer.ts'
import { createLeaseLostError, createUnavailableError } from './errors.ts'
import type { AppendResult, Lease, LeaseState } from './log.ts'

export interface LeaseOptions {
  /** This node, for this life of it. */
  readonly holder: string
  /** ms */
  readonly ttl: number
  /** Puts a request into the log. Resolves with the lease as it is then. */
  request(request: LeaseRequest): Promise<LeaseState>
  /** How long nobody else may take it, as far as this node knows (ms). */
  getRemainingMs(): number
  /** Appends what counts only in this term. */
  append<T>(kind: number, body: Buffer, term: number): Promise<AppendResult<T>>
}

// A third, so that one that is lost does not cost the lease.
const RENEWALS_PER_TTL = 3
const RETRY_DELAY_MS = 200
const RELEASE_TIMEOUT_MS = 1_000

/** A lease, and how it hears of the others. */
export interface ManagedLease extends Lease {
  /** Somebody has taken, prolonged or given up the lease: `left` is another. */
  notifyChange(): void
}

/** Takes part in the lease until it is closed. */
export function createLease({ holder, ttl, request, getRemainingMs, append }: LeaseOptions): ManagedLease {
  const closing = Promise.withResolvers<void>()
  let leaseChange = Promise.withResolvers<void>()
  let waiters: PromiseWithResolvers<void>[] = []
  let isClosed = false
  /** Whether it was this one's when it asked last. */
  let isOwn = false
  /** It may be given what it asked for. */
  let isRequesting = false
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
  async function waitForRelease(): Promise<void> {
    leaseChange = Promise.withResolvers()
    await Promise.race([pause(Math.max(getRemainingMs(), 1)), leaseChange.promise])
  }

  async function requestLease(): Promise<void> {
    const requestedAt = performance.now()
    isRequesting = true
    const lease = await Promise.race([request({ holder, ttl }), closing.promise])
    if (!lease) return
    isRequesting = false
    isOwn = lease.holder === holder
    if (!isOwn) return waitForRelease()
    term = lease.term
    // From before it asked: the log's time of it can only be later.
    until = requestedAt + ttl
    // Granted too late: it stands in the log as this one's, who cannot use it without asking anew.
    if (held() === undefined) return
    for (const waiter of waiters) waiter.resolve()
    waiters = []
    await pause(ttl / RENEWALS_PER_TTL)
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      if (!isOwn && getRemainingMs() > 0) {
        await waitForRelease()
        continue
      }
      await requestLease().catch(() => pause(RETRY_DELAY_MS))
    }
    // What it holds ends by itself where the log cannot be told.
    const releasing = (held() !== undefined || isRequesting) && request({ holder, ttl: 0 }).catch(() => {})
    if (releasing) await Promise.race([releasing, delay(RELEASE_TIMEOUT_MS, undefined, { ref: false })])
    until = 0
  }

  const running = run()
  return {
    get term() {
      return held()
    },
    async append<T>(kind: number, body: Buffer) {
      const current = held()
      if (current === undefined) throw createLeaseLostError()
      return append<T>(kind, body, current)
    },
    waitUntilHeld() {
      if (isClosed) return Promise.reject(createUnavailableError())
      if (held() !== undefined) return Promise.resolve()
      const waiter = Promise.withResolvers<void>()
      waiters.push(waiter)
      return waiter.promise
    },
    async waitUntilLost() {
      while (!isClosed && held() !== undefined) await pause(until - performance.now())
    },
    notifyChange: () => leaseChange.resolve(),
    close() {
      isClosed = true
      closing.resolve()
      for (const waiter of waiters) waiter.reject(createUnavailableError())
      waiters = []
      return running
    },
  }
}
