import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogPosition } from '../log.ts'
import { createStartPosition } from '../order/sequencer.ts'
import { getAncestor } from './stream/stream.ts'
import {
  createRecreatedError,
  getEpoch,
  LogLostError,
  RETRY_INTERVAL_MS,
  verifyStream,
  VERIFY_TIMEOUT_MS,
} from './stream/verify-stream.ts'
import type { JetStreamLogOptions } from './options.ts'
import type { SnapshotStore } from './snapshot-store.ts'

/** Maximum number of snapshot loads. The log may be trimmed during a load, so that the loaded snapshot is too old. */
const MAX_SNAPSHOT_LOADS = 5

export interface StartPositionParts {
  readonly jsm: JetStreamManager
  readonly info: StreamInfo
  readonly snapshots: SnapshotStore
  readonly signal: AbortSignal
  /** Called while this function makes progress. */
  onStep(): void
  /** Called after each failure that is retried. */
  onRetry(error: StartError): void
  /** Called before a snapshot replaces the state. @throws Error if that is not possible at present */
  onSnapshotLoad(): void
}

/**
 * Resolves with the position of the state machine, after loading a snapshot if it needs one. If the stream continues the
 * log of this node's state (see `createSuccessor`), the state machine adopts its epoch.
 * @throws StartError `LOG_LOST`, `LOG_TRIMMED`, `LOG_UNREACHABLE`
 */
export async function resolveStartPosition(
  options: JetStreamLogOptions,
  { jsm, info, snapshots, signal, onStep, onRetry, onSnapshotLoad }: StartPositionParts,
): Promise<LogPosition> {
  const { service, stream, stateMachine, log, verifyTimeout = VERIFY_TIMEOUT_MS } = options
  const epoch = getEpoch(info)
  let first = 1
  const canStartFrom = (seq: number | undefined) => (seq ?? 0) + 1 >= first
  try {
    let position = await adoptEpoch()
    for (let tries = 0; ; tries++) {
      // The stream may have been trimmed since it was opened, or during the load of a snapshot.
      first = (await jsm.streams.info(stream)).state.first_seq
      if (canStartFrom(position?.seq) && (!position || position.epoch === epoch)) break
      if (tries === MAX_SNAPSHOT_LOADS)
        throw createTrimmedError(
          `now begins at ${first}: it was trimmed during each of ${MAX_SNAPSHOT_LOADS} snapshot loads`,
        )
      const latest = await waitForUsableSnapshot()
      if (!canStartFrom(latest)) throw createTrimmedError(`begins at ${first}, and no snapshot reaches its beginning`)
      onSnapshotLoad()
      log.info(`${service}: loading the snapshot at sequence ${latest}`)
      await snapshots.load(stateMachine)
      position = await adoptEpoch()
    }
    if (position)
      await verifyStream(jsm, stream, position, {
        verifyTimeout,
        signal,
        // Not yet `LOG_LOST`: a server that was suspended has the newer messages in a moment.
        onRetry: (detail) =>
          onRetry(new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} is not complete yet: ${detail}`)),
      })
    return position ?? createStartPosition(epoch)
  } catch (error) {
    if (error instanceof StartError) throw error
    const { message } = error as Error
    if (error instanceof LogLostError)
      throw new StartError(error.code, `${service}: stream ${stream} is not the log of this node's data: ${message}`)
    throw new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be read (${message})`)
  }

  /**
   * Resolves with the position of the state machine. If it equals the ancestor of the stream, the position gets the
   * stream's epoch. An older position is returned as it is: it needs a snapshot.
   * @throws LogLostError if the stream does not continue the log of the position
   */
  async function adoptEpoch(): Promise<LogPosition | undefined> {
    const position = stateMachine.getPosition()
    if (!position || position.epoch === epoch) return position
    const ancestor = getAncestor(info)
    if (ancestor?.epoch !== position.epoch) throw createRecreatedError(info, position)
    if (position.seq < ancestor.seq) return position
    if (position.seq > ancestor.seq)
      throw new LogLostError(
        `this node has newer entries, up to ${position.seq}, and the stream continues after ${ancestor.seq}: rescue the log from this node`,
      )
    if (position.check !== ancestor.check)
      throw new LogLostError(`message ${position.seq}, after which it continues, differs from that of this node`)
    const adopted = { ...position, epoch }
    await stateMachine.apply([], adopted)
    log.info(`${service}: stream ${stream} continues the log of this node after sequence ${position.seq}`)
    return adopted
  }

  /**
   * Polls for a snapshot from which this node can start, until the timeout: a server that was unavailable may not have
   * the newest snapshot yet. Resolves with the newest known one, which may be too old.
   */
  async function waitForUsableSnapshot(): Promise<number | undefined> {
    for (const deadline = performance.now() + verifyTimeout; ;) {
      const latest = await snapshots.getLatest()
      onStep()
      if (canStartFrom(latest) || performance.now() > deadline) return latest
      await delay(RETRY_INTERVAL_MS, undefined, { signal })
    }
  }

  function createTrimmedError(detail: string): StartError {
    return new StartError('LOG_TRIMMED', `${service}: stream ${stream} ${detail}`)
  }
}
