import { Outage } from '@influencer-stats/runtime/async/outage'
import { StartError } from '@influencer-stats/runtime/errors'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { JetStreamManager } from '@nats-io/jetstream'
import { LEASE_KIND } from '../order/frame.ts'
import { MAX_PARTS, MESSAGE_OVERHEAD_BYTES } from '../order/frame-limits.ts'
import { encodeLease } from '../order/sequencer.ts'
import { createUnavailableError } from '../errors.ts'
import { createLease, type ManagedLease } from '../lease.ts'
import type { AppendResult, EntryBody, LeaseState, Log, LogState, LogPosition } from '../log.ts'
import { AppliedProgress } from '../applied-progress.ts'
import { Applier } from './applier.ts'
import { checkEpoch } from './stream/verify-stream.ts'
import { connectNats } from './connect-nats.ts'
import { startFailover } from './failover.ts'
import { StalenessTracker } from './staleness.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createStreamGuard } from './stream/stream-guard.ts'
import { LogClock } from './log-clock.ts'
import { hasQuorum } from './stream/quorum.ts'
import { createLogReader } from './reader.ts'
import { createSender } from './sender.ts'
import { createSnapshotStore, type SnapshotStore } from './snapshot-store.ts'
import { resolveStartPosition } from './start-position.ts'
import { checkFormat, openStream } from './stream/stream.ts'
import { LogWriter } from './writer.ts'

/** Default of `startTimeout`. */
const START_TIMEOUT_MS = 20_000
/** Default of `maxBody`. */
const MAX_BODY_BYTES = 1_048_576
/**
 * Clock difference between NATS and this machine above which a warning is logged (ms). Leases and expiry use NATS's
 * clock.
 */
const MAX_CLOCK_SKEW_MS = 10_000

/**
 * Opens the log, a JetStream stream that all nodes share. Resolves when this node has applied the entries that existed
 * when the stream was opened.
 * @throws StartError `NATS_...`, `JETSTREAM_OFF`, `LOG_...`
 */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<Log> {
  const { service, stream, log, startTimeout = START_TIMEOUT_MS, maxBody = MAX_BODY_BYTES } = options
  const onState = options.onState ?? (() => {})
  let onUp: () => void = () => {}
  const connection = await connectNats(service, options.nats, (isUp) => {
    log.warn(isUp ? `${service}: reconnected to NATS` : `${service}: connection to NATS lost`)
    if (isUp) onUp()
  })
  const { nc } = connection
  try {
    const openedAt = steadyNow()
    const { jsm, info } = await openStream(nc, {
      service,
      stream,
      replicas: options.replicas,
      storage: options.storage,
      timeout: startTimeout,
    })
    const maxMessage = nc.info!.max_payload - MESSAGE_OVERHEAD_BYTES
    const maxFrame = maxMessage * MAX_PARTS
    // The reserve of 1 % and 4 KiB is for the headers of the frame and of its parts.
    if (maxBody * 1.01 + 4_096 > maxFrame) {
      throw new StartError(
        'LOG_LIMITS',
        `${service}: writes of up to ${maxBody} bytes exceed ${MAX_PARTS} NATS messages: increase max_payload of NATS`,
      )
    }
    const skew = Date.parse(info.ts ?? '') - Date.now()
    if (Math.abs(skew) > MAX_CLOCK_SKEW_MS)
      log.warn(
        `${service}: the clock of NATS is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead of' : 'behind'} the clock of this node`,
      )
    const snapshots = createSnapshotStore(nc, jsm, stream, info)
    const start = await resolveStartPosition(options, jsm, info, snapshots)
    const clock = new LogClock()
    clock.addReply(info.ts, openedAt)
    const follower = followLog(options, { connection, clock, jsm, start, maxMessage, maxFrame, snapshots, onState })
    onUp = follower.onUp
    try {
      await follower.waitUntilCaughtUp(info.state.last_seq)
    } catch (error) {
      await follower.log.close()
      throw error
    }
    log.info(`${service}: opened the log: stream ${stream}, last sequence ${info.state.last_seq}`)
    return follower.log
  } catch (error) {
    await nc.close()
    throw error
  }
}

interface FollowerParts {
  readonly connection: Awaited<ReturnType<typeof connectNats>>
  readonly clock: LogClock
  readonly jsm: JetStreamManager
  readonly start: LogPosition
  readonly maxMessage: number
  readonly maxFrame: number
  readonly snapshots: SnapshotStore
  onState(state: LogState): void
}

/** Applies the entries of the log from `start` on, and appends the entries of this node. */
function followLog(
  options: JetStreamLogOptions,
  { connection, clock, jsm, start, maxMessage, maxFrame, snapshots, onState }: FollowerParts,
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
  const leases = new Set<ManagedLease>()
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
    log.error(startError.message)
    guard?.close()
    reader?.close()
    void writer.close()
    fatal.reject(startError)
    // Before the start ends, `waitUntilCaughtUp` rejects instead.
    if (isStarted) onFatal(startError)
  }

  const sender = createSender(nc, stream)
  const writer = new LogWriter({
    maxMessageBytes: maxMessage,
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

  const append = <T>(kind: number, body: EntryBody, waiters?: number, term = 0): Promise<AppendResult<T>> =>
    writer.append({ kind, term, body: Buffer.isBuffer(body) ? body : body.encode() }, waiters)

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
    await nc.close()
  }
  let closed: Promise<void> | undefined

  const clusterLog: Log = {
    epoch: start.epoch,
    get state() {
      return state()
    },
    append: (kind, body, waiters) => append(kind, body, waiters),
    barrier: (waiters) => writer.barrier(waiters),
    waitForSequence,
    openLease(ttl) {
      const lease = createLease({
        holder: crypto.randomUUID(),
        ttl,
        request: async (request) => {
          const { outcome } = await append<LeaseState>(LEASE_KIND, encodeLease(request))
          return outcome
        },
        getRemainingMs: () => leaseRemainingMs - (performance.now() - leaseUpdatedAt),
        append: (kind, body, term) => append(kind, body, undefined, term),
      })
      leases.add(lease)
      return lease
    },
    async snapshot() {
      try {
        return await snapshots.save(stateMachine)
      } catch (cause) {
        throw createUnavailableError(cause)
      }
    },
    async getLatestSnapshot() {
      try {
        return await snapshots.getLatest()
      } catch (cause) {
        throw createUnavailableError(cause)
      }
    },
    async trim(upTo) {
      try {
        await jsm.streams.purge(stream, { seq: upTo })
      } catch (cause) {
        throw createUnavailableError(cause)
      }
    },
    close: () => (closed ??= close()),
  }

  return {
    log: clusterLog,
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
