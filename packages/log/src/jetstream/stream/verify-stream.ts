import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogPosition } from '../../log.ts'
import { getMessageCheck } from '../../order/frame.ts'
import { checkQuorum } from './quorum.ts'

/**
 * The stream is missing, or it is not, or no longer, the one from which this node built its state. If the node
 * continued, it would diverge.
 */
export class LogLostError extends Error {
  readonly code = 'LOG_LOST'
}

/**
 * Epoch, last applied sequence, and checksum of the message there, which the stream must match for a node to continue.
 */
export type LogIdentity = Pick<LogPosition, 'epoch' | 'seq' | 'check'>

/** Returns the identifier of a stream's log. A recreated stream has another. */
export const getEpoch = ({ created }: StreamInfo): string => created

/** Checks that the stream was not recreated. @throws LogLostError */
export function checkEpoch(info: StreamInfo, identity: Pick<LogIdentity, 'epoch'>): void {
  if (getEpoch(info) !== identity.epoch) throw createRecreatedError(info, identity)
}

export const createRecreatedError = (info: StreamInfo, { epoch }: Pick<LogIdentity, 'epoch'>) =>
  new LogLostError(`it was recreated (${getEpoch(info)}; the data of this node is from ${epoch})`)

/**
 * Time for which the stream may seem to end before the last applied entry (ms). A server that was suspended believes
 * for a moment that it is the leader, and reports an old end.
 */
export const VERIFY_TIMEOUT_MS = 15_000
/** Delay before a request to the stream or its snapshots is repeated (ms). */
export const RETRY_INTERVAL_MS = 250

export interface VerifyOptions {
  /** Default: `VERIFY_TIMEOUT_MS`. */
  readonly verifyTimeout?: number | undefined
  readonly signal?: AbortSignal
  /** Called while the stream seems to end before the last applied entry. */
  readonly onRetry?: (detail: string) => void
}

/**
 * Resolves once the stream is verified to be the one from which this node built its state. Servers whose disks were
 * restored from an older copy look healthy: without this check, the node would apply their later messages without an
 * error.
 * @throws LogLostError; another error if no server with a quorum is reachable
 */
export async function verifyStream(
  jsm: JetStreamManager,
  stream: string,
  identity: LogIdentity,
  { verifyTimeout = VERIFY_TIMEOUT_MS, signal, onRetry }: VerifyOptions = {},
): Promise<void> {
  const { seq } = identity
  for (const deadline = performance.now() + verifyTimeout; ;) {
    const info = await jsm.streams.info(stream)
    checkQuorum(info)
    checkEpoch(info, identity)
    // Trimmed messages cannot be verified.
    if (seq === 0 || seq < info.state.first_seq) return
    if (info.state.last_seq >= seq && (await hasMessage(jsm, stream, identity))) return
    const detail = `it ends at ${info.state.last_seq}, but this node has applied ${seq}`
    if (performance.now() > deadline) throw new LogLostError(`${detail}: it was restored to an older state`)
    onRetry?.(detail)
    await delay(RETRY_INTERVAL_MS, undefined, { signal })
  }
}

/**
 * True if the stream has the last applied message; false if the server does not have it yet.
 * @throws LogLostError if the stream has another message at this sequence
 */
async function hasMessage(jsm: JetStreamManager, stream: string, { seq, check }: LogIdentity): Promise<boolean> {
  const message = await jsm.streams.getMessage(stream, { seq })
  if (!message) return false
  if (getMessageCheck(Buffer.from(message.data)) === check) return true
  throw new LogLostError(
    `message ${seq} differs from the one that this node applied: it was restored to an older state`,
  )
}
