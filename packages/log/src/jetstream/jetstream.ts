import { StartError } from '@influencer-stats/runtime/errors'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { JetStreamManager } from '@nats-io/jetstream'
import { LEASE, type FrameEntry } from '../order/frame.ts'
import { MAX_PARTS, MESSAGE_OVERHEAD } from '../order/limits.ts'
import { encodeLease } from '../order/order.ts'
import { unavailable } from '../errors.ts'
import { createLease, type OwnLease } from '../lease.ts'
import type { Appended, LeaseState, Log, LogState, Position } from '../log.ts'
import { Progress } from '../progress.ts'
import { Applier } from './applier.ts'
import { checkEpoch } from './check.ts'
import { connectNats } from './connect.ts'
import { goElsewhere } from './elsewhere.ts'
import { Freshness } from './freshness.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createGuard } from './guard.ts'
import { LogClock } from './log-clock.ts'
import { hasQuorum } from './quorum.ts'
import { createReader } from './reader.ts'
import { createSender } from './sender.ts'
import { createSnapshots, type Snapshots } from './snapshots.ts'
import { startingPosition } from './start.ts'
import { checkFormat, openStream } from './stream.ts'
import { Writer } from './writer.ts'

const START_TIMEOUT = 20_000
const LARGEST_BODY = 1_048_576
/** Clocks that are further apart (ms) are worth a line: what the log's clock judges by is not this one's. */
const SKEW = 10_000

/**
 * The log as a stream of JetStream: the same on every node. Resolves when the own view has caught up.
 * @throws StartError `NATS_...`, `JETSTREAM_OFF`, `LOG_...`
 */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<Log> {
  const { service, stream, log, startTimeout = START_TIMEOUT, maxBody = LARGEST_BODY } = options
  const tell = options.onState ?? (() => {})
  let onUp: () => void = () => {}
  const connection = await connectNats(service, options.nats, (isUp) => {
    log.warn(isUp ? `${service}: NATS is back` : `${service}: NATS is away`)
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
    const maxMessage = nc.info!.max_payload - MESSAGE_OVERHEAD
    const maxFrame = maxMessage * MAX_PARTS
    // A head and some bytes for each part.
    if (maxBody * 1.01 + 4_096 > maxFrame) {
      throw new StartError(
        'LOG_LIMITS',
        `${service}: what is up to ${maxBody} bytes large does not fit into ${MAX_PARTS} messages of NATS: raise its max_payload`,
      )
    }
    const skew = Date.now() - Date.parse(info.ts ?? '')
    if (Math.abs(skew) > SKEW)
      log.warn(`${service}: the clock of NATS is ${Math.round(-skew / 1000)} s ahead of this one's`)
    const snapshots = createSnapshots(nc, jsm, stream, info)
    const start = await startingPosition(options, jsm, info, snapshots)
    const clock = new LogClock()
    clock.heard(info.ts, openedAt)
    const running = follow(options, { connection, clock, jsm, start, maxMessage, maxFrame, snapshots, tell })
    onUp = running.onUp
    try {
      await running.caughtUp(info.state.last_seq)
    } catch (error) {
      await running.log.close()
      throw error
    }
    log.info(`${service}: the log is ${stream} at ${info.state.last_seq}`)
    return running.log
  } catch (error) {
    await nc.close()
    throw error
  }
}

interface Parts {
  readonly connection: Awaited<ReturnType<typeof connectNats>>
  readonly clock: LogClock
  readonly jsm: JetStreamManager
  readonly start: Position
  readonly maxMessage: number
  readonly maxFrame: number
  readonly snapshots: Snapshots
  tell(state: LogState): void
}

function follow(
  options: JetStreamLogOptions,
  { connection, clock, jsm, start, maxMessage, maxFrame, snapshots, tell }: Parts,
) {
  const { service, stream, view, log, appendTimeout, onFatal = () => {} } = options
  const { nc, isUp } = connection
  const fatal = Promise.withResolvers<never>()
  fatal.promise.catch(() => {})
  const freshness = new Freshness()
  let answeredAt = performance.now()
  let leaseLeft = 0
  let leaseSeenAt = 0
  let isFailed = false
  let isStarted = false
  let isTroubled = false
  const leases = new Set<OwnLease>()
  const progress = new Progress(start.seq, tellState)

  const state = (): LogState => ({
    applied: progress.applied,
    known: Math.max(reader?.known ?? 0, progress.applied),
    contact: freshness.asOf,
    clockOffsets: clock.offsets,
  })

  function tellState(): void {
    tell(state())
  }

  /** This node must not go on. */
  function fail(error: Error, seq?: number): void {
    if (isFailed) return
    isFailed = true
    const where = seq === undefined ? `stream ${stream}` : `message ${seq} of stream ${stream}`
    const { code = 'LOG_DAMAGED' } = error as Error & { code?: string }
    const line = new StartError(code, `${service}: ${where}: ${error.message}; this node stops`)
    log.error(line.message)
    guard?.close()
    reader?.close()
    void writer.close()
    fatal.reject(line)
    // Until then it is the start that fails.
    if (isStarted) onFatal(line)
  }

  const sender = createSender(nc, stream)
  const writer = new Writer({
    maxMessage,
    maxFrame,
    timeout: appendTimeout,
    viewTimeout: options.viewTimeout,
    isUp,
    send: sender.send,
    onStored: (seq) => reader.know(seq),
  })
  const applier = new Applier({
    view,
    start,
    isAwaited: (message) => progress.isAwaited || writer.awaits(message) || !view.mayLag?.(),
    onApplied: (frame, verdicts, outcomes) => writer.applied(frame, verdicts, outcomes),
    onRefused: (frame) => writer.refused(frame),
    onAdvance(seq) {
      freshness.advanced(seq)
      isTroubled = false
      progress.advance(seq)
    },
    onLease(lease, at) {
      leaseLeft = lease.until - at
      leaseSeenAt = performance.now()
      for (const one of leases) one.changed()
    },
    onTrouble(error) {
      if (!isTroubled) log.error({ err: error }, `${service}: what the log says cannot be kept at present`)
      isTroubled = true
    },
    onFatal: fail,
  })
  const reader = createReader({
    nc,
    jsm,
    stream,
    from: start.seq + 1,
    onMessages: (messages) => applier.take(messages),
    onInfo(info, sentAt) {
      const isTrue = hasQuorum(info)
      if (isTrue) {
        answeredAt = performance.now()
        clock.heard(info.ts, sentAt)
        checkFormat(info, options)
        checkEpoch(info, start)
        if (info.state.last_seq < applier.ground.seq) guard.suspect()
        else freshness.heard(info.state.last_seq, progress.applied)
      }
      tellState()
      return isTrue
    },
    onKnown(known) {
      freshness.heard(known, progress.applied)
      tellState()
    },
    onFatal: fail,
  })

  const guard = createGuard({
    jsm,
    stream,
    patience: options.patience,
    ground: () => applier.ground,
    hold: reader.hold,
    release: reader.release,
    onFatal: fail,
  })

  const stay = goElsewhere({ nc, isUp, answeredAt: () => answeredAt })

  const append = <T>(entry: FrameEntry, waiting?: number): Promise<Appended<T>> => writer.append(entry, waiting)

  function reached(seq: number, timeout: number): Promise<void> {
    const there = progress.reached(seq, timeout)
    if (progress.isAwaited) applier.flush()
    return there
  }

  async function close(): Promise<void> {
    stay()
    await Promise.all(Array.from(leases, (lease) => lease.close()))
    await writer.close()
    guard.close()
    reader.close()
    sender.close()
    await applier.end()
    progress.end()
    await nc.close()
  }
  let closed: Promise<void> | undefined

  const own: Log = {
    epoch: start.epoch,
    get state() {
      return state()
    },
    append: (kind, body, waiting) => append({ kind, term: 0, body }, waiting),
    barrier: (waiting) => writer.barrier(waiting),
    reached,
    lease(ttl) {
      const lease = createLease({
        holder: crypto.randomUUID(),
        ttl,
        ask: async (request) => {
          const { outcome } = await append<LeaseState>({ kind: LEASE, term: 0, body: encodeLease(request) })
          return outcome
        },
        left: () => leaseLeft - (performance.now() - leaseSeenAt),
        append: (kind, body, term) => append({ kind, term, body }),
      })
      leases.add(lease)
      return lease
    },
    async snapshot() {
      try {
        return await snapshots.save(view)
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    async newestSnapshot() {
      try {
        return await snapshots.newest()
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    async trim(upTo) {
      try {
        await jsm.streams.purge(stream, { seq: upTo })
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    close: () => (closed ??= close()),
  }

  return {
    log: own,
    onUp() {
      writer.wake()
      // It may be another log now, or one that was put back.
      guard.suspect()
    },
    async caughtUp(seq: number): Promise<void> {
      reader.know(seq)
      while (progress.applied < seq) await Promise.race([progress.reached(seq, 60_000).catch(() => {}), fatal.promise])
      isStarted = true
    },
  }
}
