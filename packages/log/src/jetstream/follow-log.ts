import { Outage } from '@influencer-stats/runtime/async/outage'
import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { AppliedProgress } from '../applied-progress.ts'
import type { ManagedLease } from '../lease.ts'
import type { LogPosition } from '../log.ts'
import { Applier } from './applier.ts'
import type { connectNats } from './connect-nats.ts'
import { startFailover } from './failover.ts'
import type { LogClock } from './log-clock.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createLogReader } from './reader.ts'
import { createSender } from './sender.ts'
import { createSkipReport } from '../order/skip-report.ts'
import type { StalenessTracker } from './staleness.ts'
import { hasQuorum } from './stream/quorum.ts'
import { createServerReporter } from './stream/server-reporter.ts'
import { checkStream } from './stream/stream.ts'
import { createStreamGuard } from './stream/stream-guard.ts'
import { checkEpoch, LogLostError, VERIFY_TIMEOUT_MS } from './stream/verify-stream.ts'
import { LogWriter } from './writer.ts'

/** Parts that survive the loss of the log: a later follower continues with them. */
export interface SharedLogParts {
  readonly clock: LogClock
  readonly staleness: StalenessTracker
  readonly progress: AppliedProgress
  /** Leases of this process. The follower notifies them of every change. */
  readonly leases: ReadonlySet<ManagedLease>
  /** Last sequence that is known to exist. */
  known: number
  /** Called after every change of the state. */
  reportState(): void
}

export interface FollowerParts {
  readonly connection: Awaited<ReturnType<typeof connectNats>>
  readonly shared: SharedLogParts
  readonly jsm: JetStreamManager
  readonly start: LogPosition
  readonly maxMessage: number
  readonly maxFrame: number
  /** Called when the log stops or starts to respond. */
  onResponsive(isResponsive: boolean): void
  /** Called at most once, if this follower must stop: its state would differ from that of other nodes. */
  onFatal(error: StartError): void
}

/** Time for which a stream must be missing until this node has lost it (ms): a server that has just started may not know it. */
const MISSING_TIMEOUT_MS = 5_000
/** Time without a response by a quorum after which writes are refused at once (ms). An election takes up to 9 s. */
const UNRESPONSIVE_AFTER_MS = 10_000
const CHECK_INTERVAL_MS = 1_000
/** Time without a response after which an opening log is given up (ms). */
const OPEN_TIMEOUT_MS = 20_000

/** Applies the entries of the log from `start` on, and sends the entries of this node. The caller closes the connection. */
export function followLog(
  options: JetStreamLogOptions,
  { connection, shared, jsm, start, maxMessage, maxFrame, onResponsive, onFatal }: FollowerParts,
) {
  const { service, stream, stateMachine, log, appendTimeout, verifyTimeout = VERIFY_TIMEOUT_MS } = options
  const { nc, isUp } = connection
  const { clock, staleness, progress, leases } = shared
  /** Rejects after a fatal error, so that a start that waits for entries fails. */
  const fatal = Promise.withResolvers<never>()
  fatal.promise.catch(() => {})
  let lastResponseAt = performance.now()
  let missingSince: number | undefined
  let isResponsive = true
  let leaseRemainingMs = 0
  let leaseUpdatedAt = 0
  let isFailed = false
  const storing = new Outage({
    onStart: (error) =>
      log.error({ err: error }, `${service}: entries of the log cannot be stored at present; the node retries`),
  })

  function reportState(): void {
    shared.known = Math.max(shared.known, reader?.known ?? 0)
    shared.reportState()
  }

  function recordResponse(): void {
    lastResponseAt = performance.now()
    missingSince = undefined
    checkResponsive()
  }

  function checkResponsive(): void {
    const next = performance.now() - lastResponseAt < UNRESPONSIVE_AFTER_MS
    if (next !== isResponsive) onResponsive((isResponsive = next))
  }

  /** Stops this follower after a fatal error. */
  function fail(error: Error, seq?: number): void {
    if (isFailed) return
    isFailed = true
    const location = seq === undefined ? `stream ${stream}` : `message ${seq} of stream ${stream}`
    const { code = 'LOG_DAMAGED' } = error as Error & { code?: string }
    const startError =
      error instanceof StartError ? error : new StartError(code, `${service}: ${location}: ${error.message}`)
    guard?.close()
    reader?.close()
    void writer.close()
    fatal.reject(startError)
    onFatal(startError)
  }

  const sender = createSender(nc, stream)
  const maxPayload = nc.info!.max_payload
  const writer = new LogWriter({
    get maxMessageBytes() {
      return maxMessage + (nc.info?.max_payload ?? maxPayload) - maxPayload
    },
    maxFrameBytes: maxFrame,
    timeout: appendTimeout,
    applyTimeout: options.applyTimeout,
    isUp,
    send: sender.send,
    onStored: (seq) => reader.setKnown(seq),
  })
  const applier = new Applier({
    stateMachine,
    start,
    isAwaited: (message) => progress.hasWaiters || writer.isAwaiting(message) || !stateMachine.canLag?.(),
    onApplied: (frame, decisions, outcomes) => writer.onApplied(frame, decisions, outcomes),
    onSkip: createSkipReport(options),
    onIgnored: (frame) => writer.onIgnored(frame),
    onAdvance(seq) {
      staleness.recordApplied(seq)
      storing.succeed()
      progress.advance(seq)
    },
    onLease(lease, at) {
      leaseRemainingMs = lease.until - at
      leaseUpdatedAt = performance.now()
      for (const managed of leases) managed.notifyChange()
    },
    onRetry: (error) => storing.fail(error),
    onFatal: fail,
  })
  const reportServers = createServerReporter({
    jsm,
    getServerName: () => nc.info?.server_name,
    onServers: (servers) => options.onServers?.(servers),
  })
  const reader = createLogReader({
    nc,
    jsm,
    stream,
    from: start.seq + 1,
    onMessages: (messages) => applier.enqueue(messages),
    onInfo(info, sentAt) {
      const isValid = hasQuorum(info)
      if (isValid) {
        recordResponse()
        clock.addReply(info.ts, sentAt)
        checkStream(info, options)
        checkEpoch(info, start)
        reportServers(info)
        if (info.state.last_seq < applier.identity.seq) guard.verify()
        else staleness.recordEnd(info.state.last_seq, progress.applied)
      }
      reportState()
      return isValid
    },
    onMissing() {
      missingSince ??= performance.now()
      if (performance.now() - missingSince > Math.min(verifyTimeout, MISSING_TIMEOUT_MS))
        fail(new LogLostError('it does not exist'))
    },
    onKnown(known) {
      staleness.recordEnd(known, progress.applied)
      reportState()
    },
    onFatal: fail,
  })

  const guard = createStreamGuard({
    jsm,
    stream,
    verifyTimeout: options.verifyTimeout,
    getIdentity: () => applier.identity,
    pause: reader.pause,
    resume: reader.resume,
    onFatal: fail,
  })

  const stopFailover = startFailover({ nc, isUp, getLastResponseAt: () => lastResponseAt })
  const responseTimer = setInterval(checkResponsive, CHECK_INTERVAL_MS).unref()

  async function close(): Promise<void> {
    stopFailover()
    clearInterval(responseTimer)
    await writer.close()
    guard.close()
    reader.close()
    sender.close()
    await applier.end()
  }
  return {
    writer,
    flush: () => applier.flush(),
    /** Returns the time until the present lease of any node expires (ms). */
    getLeaseRemainingMs: () => leaseRemainingMs - (performance.now() - leaseUpdatedAt),
    close,
    onUp() {
      writer.retryNow()
      // The stream may have been recreated, or restored from an older copy.
      guard.verify()
    },
    /** @throws StartError after a fatal error, or `LOG_UNREACHABLE` if the log does not respond */
    async waitUntilCaughtUp(seq: number, signal: AbortSignal): Promise<void> {
      reader.setKnown(seq)
      while (progress.applied < seq) {
        signal.throwIfAborted()
        await Promise.race([progress.waitForSequence(seq, CHECK_INTERVAL_MS).catch(() => {}), fatal.promise])
        if (performance.now() - lastResponseAt > OPEN_TIMEOUT_MS)
          throw new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} does not respond`)
      }
    },
  }
}
