import { setTimeout as delay } from 'node:timers/promises'
import { pause } from '@influencer-stats/runtime/async/retry'
import { resolveUnlessAborted } from '@influencer-stats/runtime/async/resolve-within'
import type { LeaseRequest } from './order/sequencer.ts'
import { createLeaseLostError, createUnavailableError } from './errors.ts'
import type { AppendResult, EntryBody, Lease, LeaseState } from './log.ts'

export interface LeaseOptions {
  /** Identifier of this `Lease`: random, so no other process has the same. */
  readonly holder: string
  /** Time from a request until the lease expires without a renewal (ms). */
  readonly ttl: number
  /** Appends a request to the log. Resolves with the state of the lease after it; another node may be the holder. */
  request(request: LeaseRequest): Promise<LeaseState>
  /**
   * Returns the time until the present lease of any node expires, as far as this node knows (ms); 0 or less if none is
   * held.
   */
  getRemainingMs(): number
  /** Appends an entry that has an effect only while the lease has this term. */
  append<T>(kind: number, body: EntryBody, term: number): Promise<AppendResult<T>>
}

// The node renews the lease after a third of its TTL, so that one lost renewal does not lose the lease.
const RENEWALS_PER_TTL = 3
/** Delay after a failed request (ms). */
const RETRY_DELAY_MS = 200
/** Maximum time that `close` waits for the release (ms). */
const RELEASE_TIMEOUT_MS = 1_000

/** Lease to which the log of a cluster reports every change by any node. */
export interface ManagedLease extends Lease {
  /** Called when a node acquires, renews or releases the lease: `getRemainingMs` then returns a new value. */
  notifyChange(): void
}

/** Requests and renews the lease until `close` is called. */
export function createLease({ holder, ttl, request, getRemainingMs, append }: LeaseOptions): ManagedLease {
  const closing = new AbortController()
  const { signal } = closing
  let leaseChange = Promise.withResolvers<void>()
  let waiters: PromiseWithResolvers<void>[] = []
  /** True if the log's last reply named this node as the holder. */
  let isOwn = false
  /** True while the outcome of a request is unknown: the log may still grant it. */
  let isRequesting = false
  let term: number | undefined
  /** Time of expiry by this node's clock (ms of `performance.now`). */
  let until = 0

  /** Returns the term; undefined unless this node holds the lease. */
  const getHeldTerm = () => (performance.now() < until ? term : undefined)

  /** Resolves once the lease of the other node expires or changes. */
  async function waitForRelease(): Promise<void> {
    leaseChange = Promise.withResolvers()
    await Promise.race([pause(Math.max(getRemainingMs(), 1), signal), leaseChange.promise])
  }

  async function requestLease(): Promise<void> {
    const requestedAt = performance.now()
    isRequesting = true
    const lease = await resolveUnlessAborted(request({ holder, ttl }), signal)
    if (!lease) return
    isRequesting = false
    isOwn = lease.holder === holder
    if (!isOwn) return waitForRelease()
    term = lease.term
    // The TTL counts from before the request: the log can only have recorded it later.
    until = requestedAt + ttl
    // If the reply took longer than the TTL, the log names this node as the holder, but the lease may have expired. The
    // node must renew it before it counts as held.
    if (getHeldTerm() === undefined) return
    for (const waiter of waiters) waiter.resolve()
    waiters = []
    await pause(ttl / RENEWALS_PER_TTL, signal)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (!isOwn && getRemainingMs() > 0) {
        await waitForRelease()
        continue
      }
      await requestLease().catch(() => pause(RETRY_DELAY_MS, signal))
    }
    // If the release does not reach the log, the lease expires by its TTL.
    const releasing = (getHeldTerm() !== undefined || isRequesting) && request({ holder, ttl: 0 }).catch(() => {})
    if (releasing) await Promise.race([releasing, delay(RELEASE_TIMEOUT_MS, undefined, { ref: false })])
    until = 0
  }

  const running = run()
  return {
    get term() {
      return getHeldTerm()
    },
    async append<T>(kind: number, body: Buffer) {
      const current = getHeldTerm()
      if (current === undefined) throw createLeaseLostError()
      return append<T>(kind, body, current)
    },
    waitUntilHeld() {
      if (signal.aborted) return Promise.reject(createUnavailableError())
      if (getHeldTerm() !== undefined) return Promise.resolve()
      const waiter = Promise.withResolvers<void>()
      waiters.push(waiter)
      return waiter.promise
    },
    async waitUntilLost() {
      while (!signal.aborted && getHeldTerm() !== undefined) await pause(until - performance.now(), signal)
    },
    notifyChange: () => leaseChange.resolve(),
    close() {
      closing.abort()
      for (const waiter of waiters) waiter.reject(createUnavailableError())
      waiters = []
      return running
    },
  }
}
