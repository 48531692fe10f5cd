import { createBackOff, pause } from '@influencer-stats/runtime/async/retry'
import { StartError } from '@influencer-stats/runtime/errors'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { AppliedProgress } from '../applied-progress.ts'
import type { LogAvailability } from '../availability.ts'
import { createUnavailableError } from '../errors.ts'
import { createLease, type ManagedLease } from '../lease.ts'
import type { AppendResult, EntryBody, LeaseState, Log, LogState, StateMachine } from '../log.ts'
import { LEASE_KIND } from '../order/frame.ts'
import { encodeLease } from '../order/sequencer.ts'
import { AvailabilityTracker } from '../availability-tracker.ts'
import { attachLog, type LogAttachment } from './attach-log.ts'
import type { SharedLogParts } from './follow-log.ts'
import { LogClock } from './log-clock.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createUnresponsiveError, LASTING_CODES, RestartError, SETTING_CODES, toStartError } from './start-faults.ts'
import { StalenessTracker } from './staleness.ts'
import type { LogWriter } from './writer.ts'

/** Default of `startTimeout`. */
const START_TIMEOUT_MS = 10_000
/** Minimum time without a step after which a node starts without its log (ms). It is longer than an attempt. */
const STEP_TIMEOUT_MS = 5_000
/** Maximum time of an attempt until JetStream is ready (ms). */
const ATTEMPT_TIMEOUT_MS = 3_000
const CHECK_INTERVAL_MS = 50

/** Log on NATS servers. While the servers have no log for this node, it serves reads and retries. */
export interface JetStreamLog extends Log {
  readonly availability: LogAvailability
  /** True until the first attachment of a node without state: it has nothing to read. */
  readonly isEmpty: boolean
}

/**
 * Opens the log, a JetStream stream that all nodes share. Resolves when this node has applied the entries that existed
 * when the stream was opened, or without the log if it is not available soon. The node then attaches to it later.
 * @throws StartError `NATS_URL_WRONG`, `NATS_FILE_UNREADABLE`, `LOG_LIMITS`
 */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<JetStreamLog> {
  const manager = new LogManager(options)
  await manager.start()
  return manager.log
}

/** Attaches a node to its log, again and again. */
class LogManager {
  readonly #options: JetStreamLogOptions
  readonly #stateMachine: StateMachine
  readonly #closing = new AbortController()
  readonly #leases = new Set<ManagedLease>()
  readonly #shared: SharedLogParts
  #attachment: LogAttachment | undefined
  /** Undefined while the log is unavailable: appends are then refused at once. */
  #writer: LogWriter | undefined
  readonly #availability: AvailabilityTracker
  /** Epoch of the last attachment; empty before. */
  #epoch = ''
  #isEmpty: boolean
  #isStarted = false
  #isLoading = false
  /** Time of the last step, and the failure that was retried since. */
  #lastStep: { at: number; retried?: StartError } = { at: performance.now() }
  #attaching: Promise<void> = Promise.resolve()
  #closed: Promise<void> | undefined
  readonly log: JetStreamLog

  constructor(options: JetStreamLogOptions) {
    this.#options = options
    this.#stateMachine = options.stateMachine
    const position = this.#stateMachine.getPosition()
    this.#isEmpty = position === undefined
    this.#epoch = position?.epoch ?? ''
    this.#availability = new AvailabilityTracker(options)
    this.#shared = {
      clock: new LogClock(),
      // The state of a node is that of the log at the time of the last applied entry.
      staleness: new StalenessTracker(steadyNow, position && steadyNow() - Math.max(0, Date.now() - position.at)),
      progress: new AppliedProgress(position?.seq ?? 0, () => {
        this.#lastStep.at = performance.now()
        this.#reportState()
      }),
      leases: this.#leases,
      known: position?.seq ?? 0,
      reportState: () => this.#reportState(),
    }
    this.log = this.#createLog()
  }

  /** Resolves once this node is attached, or starts without its log. @throws StartError */
  async start(): Promise<void> {
    const { startTimeout = START_TIMEOUT_MS } = this.#options
    const startedAt = performance.now()
    const ended = Promise.withResolvers<void>()
    this.#attaching = this.#attach((error) => {
      if (SETTING_CODES.has(error.code)) return ended.reject(error)
      const isOver = performance.now() - startedAt >= startTimeout
      if (!this.#isEmpty || LASTING_CODES.has(error.code) || isOver) ended.resolve()
    })
    const timer = setInterval(() => {
      const timeout = this.#isEmpty ? Math.max(startTimeout, STEP_TIMEOUT_MS) : STEP_TIMEOUT_MS
      if (this.#isLoading || performance.now() - this.#lastStep.at <= timeout) return
      this.#setFault(this.#lastStep.retried ?? new StartError('LOG_UNREACHABLE', 'the log is not open yet'))
      ended.resolve()
    }, CHECK_INTERVAL_MS)
    try {
      await Promise.race([this.#attaching, ended.promise])
    } catch (error) {
      await this.log.close()
      throw error
    } finally {
      clearInterval(timer)
    }
    this.#isStarted = true
    this.#reportAvailability()
  }

  #reportState(): void {
    this.#options.onState?.(this.#getState())
  }

  #reportAvailability(): void {
    if (this.#isStarted) this.#options.onAvailability?.(this.#availability.current, this.#isEmpty)
  }

  #getState(): LogState {
    const { progress, known, staleness, clock } = this.#shared
    return {
      applied: progress.applied,
      known: Math.max(known, progress.applied),
      lastContactAt: staleness.lastContactAt,
      clockOffsets: clock.offsets,
    }
  }

  /** Attempts to attach until it succeeds, or until the log is closed. @param onFault called after each failure */
  async #attach(onFault: (error: StartError) => void = () => {}): Promise<void> {
    const { signal } = this.#closing
    const delays = createBackOff()
    while (!signal.aborted) {
      try {
        this.#attachment = await this.#attachOnce()
        this.#epoch = this.#attachment.epoch
        this.#isEmpty = false
        return this.#setReady()
      } catch (error) {
        if (signal.aborted) return
        const fault = toStartError(error, this.#options.service)
        if (fault instanceof RestartError) return this.#restart(fault)
        this.#lastStep = { at: performance.now(), retried: fault }
        this.#setFault(fault)
        onFault(fault)
        await pause(delays.next(), signal)
      } finally {
        this.#isLoading = false
      }
    }
  }

  #attachOnce(): Promise<LogAttachment> {
    const { service, startTimeout = ATTEMPT_TIMEOUT_MS } = this.#options
    let attachment: Promise<LogAttachment>
    return (attachment = attachLog(this.#options, {
      shared: this.#shared,
      timeout: Math.min(startTimeout, ATTEMPT_TIMEOUT_MS),
      signal: this.#closing.signal,
      onStep: () => void (this.#lastStep = { at: performance.now() }),
      onRetry: (error) => void (this.#lastStep.retried = error),
      onOpened: (epoch) => {
        const mustRestart = this.#options.restartsToJoin && this.#stateMachine.getPosition() === undefined
        if (this.#isStarted && mustRestart && epoch !== this.#epoch)
          throw new RestartError(`${service}: the log is available; this node restarts to load it`)
      },
      onSnapshotLoad: () => {
        if (this.#isStarted)
          throw new RestartError(`${service}: this node is behind its log and restarts to load a snapshot`)
        this.#isLoading = true
      },
      onResponsive: (isResponsive) => {
        if (!this.#attachment) return
        if (isResponsive) this.#setReady()
        else this.#setFault(createUnresponsiveError(this.#options, this.#attachment.connection))
      },
      onFatal: (error) => void attachment.then((current) => this.#detach(current, error)),
    }))
  }

  /** Ends the use of a log that is no longer the one of this node, and attaches again. */
  #detach(attachment: LogAttachment, error: StartError): void {
    if (this.#closing.signal.aborted || this.#attachment !== attachment) return
    this.#attachment = undefined
    this.#writer = undefined
    // The next start loads a snapshot.
    if (error.code === 'LOG_TRIMMED') return this.#restart(error)
    this.#attaching = attachment.close().then(async () => {
      // A stream that continues this log is adopted without a report.
      if (error.code !== 'LOG_LOST') this.#setFault(error)
      await this.#attach()
    })
  }

  #restart(reason: StartError): void {
    const { log, onFatal } = this.#options
    log.error(reason.message)
    onFatal?.(reason)
  }

  #setReady(): void {
    this.#writer = this.#attachment!.follower.writer
    this.#availability.setReady(this.#isStarted)
    this.#reportAvailability()
    this.#reportState()
  }

  #setFault(error: StartError): void {
    this.#writer = undefined
    this.#availability.setFault(error, this.#isEmpty)
    this.#reportAvailability()
  }

  readonly #append = <T>(kind: number, body: EntryBody, waiters?: number, term = 0): Promise<AppendResult<T>> =>
    this.#writer
      ? this.#writer.append({ kind, term, body: Buffer.isBuffer(body) ? body : body.encode() }, waiters)
      : Promise.reject(this.#createError())

  #createError(): Error {
    return createUnavailableError(undefined, this.#availability.code)
  }

  /** Returns the result of a request to the servers. @throws LOG_UNAVAILABLE if it fails */
  async #request<T>(send: (attachment: LogAttachment) => Promise<T>): Promise<T> {
    if (!this.#attachment) throw this.#createError()
    try {
      return await send(this.#attachment)
    } catch (cause) {
      throw createUnavailableError(cause)
    }
  }

  #openLease(ttl: number): ManagedLease {
    const lease = createLease({
      holder: crypto.randomUUID(),
      ttl,
      request: async (request) => {
        const { outcome } = await this.#append<LeaseState>(LEASE_KIND, encodeLease(request))
        return outcome
      },
      getRemainingMs: () => this.#attachment?.follower.getLeaseRemainingMs() ?? 0,
      append: (kind, body, term) => this.#append(kind, body, undefined, term),
    })
    this.#leases.add(lease)
    return lease
  }

  async #close(): Promise<void> {
    // Leases are released before the log is closed.
    await Promise.all(Array.from(this.#leases, (lease) => lease.close()))
    this.#closing.abort()
    this.#writer = undefined
    await this.#attaching.catch(() => {})
    await this.#attachment?.close()
    this.#shared.progress.close()
  }

  #createLog(): JetStreamLog {
    const { progress } = this.#shared
    const getEpoch = () => this.#epoch
    const getState = () => this.#getState()
    const getAvailability = () => this.#availability.current
    const isEmpty = () => this.#isEmpty
    return {
      get epoch() {
        return getEpoch()
      },
      get state() {
        return getState()
      },
      get availability() {
        return getAvailability()
      },
      get isEmpty() {
        return isEmpty()
      },
      append: (kind, body, waiters) => this.#append(kind, body, waiters),
      barrier: (waiters) => this.#writer?.barrier(waiters) ?? Promise.reject(this.#createError()),
      waitForSequence: (seq, timeout) => {
        const applied = progress.waitForSequence(seq, timeout)
        if (progress.hasWaiters) this.#attachment?.follower.flush()
        return applied
      },
      openLease: (ttl) => this.#openLease(ttl),
      snapshot: () => this.#request(({ snapshots }) => snapshots.save(this.#stateMachine)),
      getLatestSnapshot: () => this.#request(({ snapshots }) => snapshots.getLatest()),
      trim: (upTo) =>
        this.#request(async ({ jsm }) => void (await jsm.streams.purge(this.#options.stream, { seq: upTo }))),
      close: () => (this.#closed ??= this.#close()),
    }
  }
}
