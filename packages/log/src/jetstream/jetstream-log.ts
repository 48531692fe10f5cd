import { StartError } from '@influencer-stats/runtime/errors'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createUnavailableError } from '../errors.ts'
import { createLease, type ManagedLease } from '../lease.ts'
import type { AppendResult, EntryBody, LeaseState, Log } from '../log.ts'
import { LEASE_KIND, MAX_PARTS, MESSAGE_OVERHEAD_BYTES } from '../order/frame.ts'
import { encodeLease } from '../order/sequencer.ts'
import { connectNats } from './connect-nats.ts'
import { followLog } from './follow-log.ts'
import { LogClock } from './log-clock.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createSnapshotStore, type SnapshotStore } from './snapshot-store.ts'
import { resolveStartPosition } from './start-position.ts'
import { openStream } from './stream/stream.ts'

/** Default of `startTimeout`. */
const START_TIMEOUT_MS = 20_000
/** Maximum number of starts: the log may be trimmed while this node reads it. */
const MAX_STARTS = 5
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
    const clock = new LogClock()
    clock.addReply(info.ts, openedAt)
    const leases = new Set<ManagedLease>()
    const parts = { connection, clock, jsm, maxMessage, maxFrame, leases, onState }
    for (let tries = 1; ; tries++) {
      const start = await resolveStartPosition(options, jsm, info, snapshots)
      const follower = followLog(options, { ...parts, start })
      onUp = follower.onUp
      try {
        await follower.waitUntilCaughtUp(info.state.last_seq)
      } catch (error) {
        await follower.close()
        // Other nodes have taken two snapshots since the start position was resolved.
        if ((error as StartError).code !== 'LOG_TRIMMED' || tries === MAX_STARTS) throw error
        log.warn(`${service}: the log was trimmed while this node read it; it starts again from a newer snapshot`)
        continue
      }
      log.info(`${service}: opened the log: stream ${stream}, last sequence ${info.state.last_seq}`)
      return createLog(options, { nc, follower, leases, jsm, snapshots, epoch: start.epoch })
    }
  } catch (error) {
    await nc.close()
    throw error
  }
}

interface LogParts {
  readonly nc: NatsConnection
  readonly follower: ReturnType<typeof followLog>
  /** Receives the leases that are opened. */
  readonly leases: Set<ManagedLease>
  readonly jsm: JetStreamManager
  readonly snapshots: SnapshotStore
  readonly epoch: string
}

/** Creates the contract of the log for a follower. */
function createLog(
  { stream, stateMachine }: JetStreamLogOptions,
  { nc, follower, leases, jsm, snapshots, epoch }: LogParts,
): Log {
  let closed: Promise<void> | undefined

  const append = <T>(kind: number, body: EntryBody, waiters?: number, term = 0): Promise<AppendResult<T>> =>
    follower.writer.append({ kind, term, body: Buffer.isBuffer(body) ? body : body.encode() }, waiters)

  return {
    epoch,
    get state() {
      return follower.state()
    },
    append: (kind, body, waiters) => append(kind, body, waiters),
    barrier: (waiters) => follower.writer.barrier(waiters),
    waitForSequence: follower.waitForSequence,
    openLease(ttl) {
      const lease = createLease({
        holder: crypto.randomUUID(),
        ttl,
        request: async (request) => {
          const { outcome } = await append<LeaseState>(LEASE_KIND, encodeLease(request))
          return outcome
        },
        getRemainingMs: follower.getLeaseRemainingMs,
        append: (kind, body, term) => append(kind, body, undefined, term),
      })
      leases.add(lease)
      return lease
    },
    snapshot: () => orUnavailable(snapshots.save(stateMachine)),
    getLatestSnapshot: () => orUnavailable(snapshots.getLatest()),
    async trim(upTo) {
      await orUnavailable(jsm.streams.purge(stream, { seq: upTo }))
    },
    close: () => (closed ??= follower.close().then(() => nc.close())),
  }
}

/** Returns the result of a request to the servers. @throws LOG_UNAVAILABLE if it fails */
const orUnavailable = <T>(request: Promise<T>): Promise<T> =>
  request.catch((cause: unknown) => {
    throw createUnavailableError(cause)
  })
