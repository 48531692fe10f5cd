import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogFork, LogPosition } from '../log.ts'
import { createStartPosition } from '../order/sequencer.ts'
import { getAncestors } from './stream/stream.ts'
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
  const ancestors = getAncestors(info)
  const lineage = ancestors.length > 0 ? { ancestors } : undefined
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
    return { ...(position ?? createStartPosition(epoch)), ...lineage }
  } catch (error) {
    if (error instanceof StartError) throw error
    const { message } = error as Error
    if (error instanceof LogLostError)
      throw new StartError(error.code, `${service}: stream ${stream} is not the log of this node's data: ${message}`)
    throw new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be read (${message})`)
  }

  /**
   * Resolves with the position of the state machine. If it equals the position after which the stream continues, it gets
   * the stream's epoch. A position of an ancestor before is returned as it is: it needs a snapshot.
   * @throws LogLostError if the stream does not continue the log of the position
   */
  async function adoptEpoch(): Promise<LogPosition | undefined> {
    const position = stateMachine.getPosition()
    if (!position || position.epoch === epoch) return position
    const fork = ancestors.find((ancestor) => ancestor.epoch === position.epoch)
    if (!fork) throw createRecreatedError(info, position)
    const { seq, check, partialSeq = seq } = position
    const last = Math.max(seq, partialSeq)
    if (last > fork.seq)
      throw new LogLostError(
        last > seq
          ? `this node has a part of the entries up to ${last}, after which its process ended, and the stream continues after ${fork.seq}: export its data, then start it with an empty folder`
          : `this node has newer entries, up to ${seq}, and the stream continues after ${fork.seq}: rescue the log from this node`,
      )
    if (seq < fork.seq) return position
    if (check !== fork.check)
      throw new LogLostError(`message ${seq}, after which it continues, differs from that of this node`)
    // The logs between have entries that this node does not have.
    if (!isSameState(fork, ancestors[0]!)) return position
    const adopted = { ...position, epoch, ...lineage }
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

const isSameState = (one: LogFork, other: LogFork): boolean => one.seq === other.seq && one.check === other.check
