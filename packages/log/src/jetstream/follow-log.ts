import { Outage } from '@influencer-stats/runtime/async/outage'
import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager } from '@nats-io/jetstream'
import { AppliedProgress } from '../applied-progress.ts'
import type { ManagedLease } from '../lease.ts'
import type { LogPosition, LogState } from '../log.ts'
import { Applier } from './applier.ts'
import type { connectNats } from './connect-nats.ts'
import { startFailover } from './failover.ts'
import type { LogClock } from './log-clock.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createLogReader } from './reader.ts'
import { createSender } from './sender.ts'
import { createSkipReport } from './skip-report.ts'
import { StalenessTracker } from './staleness.ts'
import { hasQuorum } from './stream/quorum.ts'
import { checkFormat } from './stream/stream.ts'
import { createStreamGuard } from './stream/stream-guard.ts'
import { checkEpoch } from './stream/verify-stream.ts'
import { LogWriter } from './writer.ts'

export interface FollowerParts {
  readonly connection: Awaited<ReturnType<typeof connectNats>>
  readonly clock: LogClock
  readonly jsm: JetStreamManager
  readonly start: LogPosition
  readonly maxMessage: number
  readonly maxFrame: number
  /** Leases of this process. The follower notifies them of every change, and closes them first. */
  readonly leases: ReadonlySet<ManagedLease>
  onState(state: LogState): void
}

/** Applies the entries of the log from `start` on, and sends the entries of this node. The caller closes the connection. */
export function followLog(
  options: JetStreamLogOptions,
  { connection, clock, jsm, start, maxMessage, maxFrame, leases, onState }: FollowerParts,
) {
  const { service, stream, stateMachine, log, appendTimeout, onFatal = () => {} } = options
  const { nc, isUp } = connection
  /** Rejects after a fatal error, so that a start that waits for entries fails. */
  const fatal = Promise.withResolvers<never>()
  fatal.promise.catch(() => {})
  const staleness = new StalenessTracker()
  let lastResponseAt = performance.now()
  let leaseRemainingMs = 0
  let leaseUpdatedAt = 0
  let isFailed = false
  let isStarted = false
  const storing = new Outage({
    onStart: (error) =>
      log.error({ err: error }, `${service}: entries of the log cannot be stored at present; the node retries`),
  })
  const progress = new AppliedProgress(start.seq, reportState)

  const state = (): LogState => ({
    applied: progress.applied,
    known: Math.max(reader?.known ?? 0, progress.applied),
    lastContactAt: staleness.lastContactAt,
    clockOffsets: clock.offsets,
  })

  function reportState(): void {
    onState(state())
  }

  /** Stops this node after a fatal error. */
  function fail(error: Error, seq?: number): void {
    if (isFailed) return
    isFailed = true
    const location = seq === undefined ? `stream ${stream}` : `message ${seq} of stream ${stream}`
    const { code = 'LOG_DAMAGED' } = error as Error & { code?: string }
    const startError = new StartError(code, `${service}: ${location}: ${error.message}; this node stops`)
    guard?.close()
    reader?.close()
    void writer.close()
    fatal.reject(startError)
    // Before the start ends, `waitUntilCaughtUp` rejects instead.
    if (!isStarted) return
    log.error(startError.message)
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
  const reader = createLogReader({
    nc,
    jsm,
    stream,
    from: start.seq + 1,
    onMessages: (messages) => applier.enqueue(messages),
    onInfo(info, sentAt) {
      const isValid = hasQuorum(info)
      if (isValid) {
        lastResponseAt = performance.now()
        clock.addReply(info.ts, sentAt)
        checkFormat(info, options)
        checkEpoch(info, start)
        if (info.state.last_seq < applier.identity.seq) guard.verify()
        else staleness.recordEnd(info.state.last_seq, progress.applied)
      }
      reportState()
      return isValid
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

  function waitForSequence(seq: number, timeout: number): Promise<void> {
    const applied = progress.waitForSequence(seq, timeout)
    if (progress.hasWaiters) applier.flush()
    return applied
  }

  async function close(): Promise<void> {
    stopFailover()
    await Promise.all(Array.from(leases, (lease) => lease.close()))
    await writer.close()
    guard.close()
    reader.close()
    sender.close()
    await applier.end()
    progress.close()
  }
  return {
    state,
    writer,
    waitForSequence,
    /** Returns the time until the present lease of any node expires (ms). */
    getLeaseRemainingMs: () => leaseRemainingMs - (performance.now() - leaseUpdatedAt),
    close,
    onUp() {
      writer.retryNow()
      // The stream may have been recreated, or restored from an older copy.
      guard.verify()
    },
    async waitUntilCaughtUp(seq: number): Promise<void> {
      reader.setKnown(seq)
      while (progress.applied < seq)
        await Promise.race([progress.waitForSequence(seq, 60_000).catch(() => {}), fatal.promise])
      isStarted = true
    },
  }
}
