import { resolveUnlessAborted } from '@influencer-stats/runtime/async/resolve-within'
import { StartError } from '@influencer-stats/runtime/errors'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { MAX_PARTS, MESSAGE_OVERHEAD_BYTES } from '../order/frame.ts'
import { connectNats, type LogConnection } from './connect-nats.ts'
import { followLog, type SharedLogParts } from './follow-log.ts'
import type { JetStreamLogOptions } from './options.ts'
import { createSnapshotStore, type SnapshotStore } from './snapshot-store.ts'
import { resolveStartPosition } from './start-position.ts'
import { describeCluster, openStream } from './stream/stream.ts'

/** Maximum number of starts: the log may be trimmed while this node reads it. */
const MAX_STARTS = 5
/** Default of `maxBody`. */
const MAX_BODY_BYTES = 1_048_576
/**
 * Clock difference between NATS and this machine above which a warning is logged (ms). Leases and expiry use NATS's
 * clock.
 */
const MAX_CLOCK_SKEW_MS = 10_000

/** Connection of this node to its log: it applies the entries of all nodes and sends those of this node. */
export interface LogAttachment {
  readonly epoch: string
  readonly connection: LogConnection
  readonly follower: ReturnType<typeof followLog>
  readonly jsm: JetStreamManager
  readonly snapshots: SnapshotStore
  close(): Promise<void>
}

export interface AttachOptions {
  readonly shared: SharedLogParts
  /** Maximum time until JetStream is ready (ms). */
  readonly timeout: number
  /** Ends the attempt. */
  readonly signal: AbortSignal
  /** Called after each step. */
  onStep(): void
  /** Called after each failure that this attempt retries. */
  onRetry(error: StartError): void
  /** Called before entries are applied. @throws Error if the state machine cannot follow this log at present */
  onOpened(epoch: string): void
  /** Called before a snapshot replaces the state. @throws Error if that is not possible at present */
  onSnapshotLoad(): void
  /** Called when the attached log stops or starts to respond. */
  onResponsive(isResponsive: boolean): void
  /** Called at most once, and only after the attachment, if it must be closed. */
  onFatal(error: StartError): void
}

/**
 * Attaches this node to its log. Resolves when the node has applied the entries that existed when the stream was opened.
 * @throws StartError `NATS_...`, `JETSTREAM_OFF`, `LOG_...`, `CLUSTER_MISMATCH`
 */
export async function attachLog(options: JetStreamLogOptions, attach: AttachOptions): Promise<LogAttachment> {
  const { service, stream, log } = options
  const { shared, signal, onStep } = attach
  let onUp: () => void = () => {}
  const connecting = connectNats(service, options.nats, (isUp) => {
    log.warn(isUp ? `${service}: reconnected to NATS` : `${service}: connection to NATS lost`)
    if (isUp) onUp()
  })
  const connection = await resolveUnlessAborted(connecting, signal)
  if (!connection) {
    connecting.then(({ nc }) => nc.close()).catch(() => {})
    throw createAbortError(service)
  }
  const { nc } = connection
  // Ends the requests of this attempt at once.
  const onAbort = () => void nc.close()
  signal.addEventListener('abort', onAbort)
  onStep()
  try {
    const openedAt = steadyNow()
    const { jsm, info, isNew } = await openStream(nc, {
      ...options,
      timeout: attach.timeout,
      canCreate: options.stateMachine.getPosition() === undefined,
      signal,
      onRetry: attach.onRetry,
    })
    onStep()
    const maxMessage = nc.info!.max_payload - MESSAGE_OVERHEAD_BYTES
    const maxFrame = maxMessage * MAX_PARTS
    checkMaxBody(options, maxFrame)
    warnOfClockSkew(options, info)
    attach.onOpened(info.created)
    const isJoining = !isNew && options.stateMachine.getPosition() === undefined
    const snapshots = createSnapshotStore(nc, jsm, stream, info)
    shared.clock.addReply(info.ts, openedAt)
    let isAttached = false
    for (let tries = 1; ; tries++) {
      const start = await resolveStartPosition(options, { ...attach, jsm, info, snapshots })
      signal.throwIfAborted()
      onStep()
      shared.progress.advance(start.seq)
      shared.staleness.resetEnd()
      shared.staleness.recordEnd(info.state.last_seq, start.seq)
      const follower = followLog(options, {
        ...attach,
        connection,
        jsm,
        start,
        maxMessage,
        maxFrame,
        // Before, `waitUntilCaughtUp` rejects instead.
        onFatal: (error) => isAttached && attach.onFatal(error),
      })
      onUp = follower.onUp
      try {
        await follower.waitUntilCaughtUp(info.state.last_seq, signal)
      } catch (error) {
        await follower.close()
        // Other nodes have taken two snapshots since the start position was resolved.
        if ((error as StartError).code !== 'LOG_TRIMMED' || tries === MAX_STARTS) throw error
        log.warn(`${service}: the log was trimmed while this node read it; it starts again from a newer snapshot`)
        continue
      }
      isAttached = true
      log.info(`${service}: opened the log: stream ${stream}, last sequence ${info.state.last_seq}`)
      if (isJoining && info.state.messages > 0) log.warn(describeJoin(options, info))
      return {
        epoch: start.epoch,
        connection,
        follower,
        jsm,
        snapshots,
        async close() {
          await follower.close()
          await nc.close()
        },
      }
    }
  } catch (error) {
    await nc.close()
    throw signal.aborted ? createAbortError(service) : error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const createAbortError = (service: string) => new StartError('LOG_UNREACHABLE', `${service}: the log is closed`)

/** @throws StartError `LOG_LIMITS` if the servers cannot store the largest entry */
function checkMaxBody({ service, maxBody = MAX_BODY_BYTES }: JetStreamLogOptions, maxFrame: number): void {
  // The reserve of 1 % and 4 KiB is for the headers of the frame and of its parts.
  if (maxBody * 1.01 + 4_096 <= maxFrame) return
  throw new StartError(
    'LOG_LIMITS',
    `${service}: writes of up to ${maxBody} bytes exceed ${MAX_PARTS} NATS messages: increase max_payload of NATS`,
  )
}

function warnOfClockSkew({ service, log }: JetStreamLogOptions, info: StreamInfo): void {
  const skew = Date.parse(info.ts ?? '') - Date.now()
  if (Math.abs(skew) > MAX_CLOCK_SKEW_MS)
    log.warn(
      `${service}: the clock of NATS is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead of' : 'behind'} the clock of this node`,
    )
}

const describeJoin = (
  { service, stream, cluster = '' }: JetStreamLogOptions,
  { created, state: { messages } }: StreamInfo,
): string =>
  `${service}: joined the log of ${describeCluster(cluster)} (stream ${stream}, ${messages} entries, created ${created}): ` +
  'writes on this node change the data of all its nodes'
