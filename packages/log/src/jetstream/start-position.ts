import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogPosition } from '../log.ts'
import { createStartPosition } from '../order/sequencer.ts'
import {
  checkEpoch,
  verifyStream,
  getEpoch,
  LogReplacedError,
  VERIFY_TIMEOUT_MS,
  RETRY_INTERVAL_MS,
} from './stream/verify-stream.ts'
import type { JetStreamLogOptions } from './options.ts'
import type { SnapshotStore } from './snapshot-store.ts'

/** Maximum number of snapshot loads. The log may be trimmed during a load, so that the loaded snapshot is too old. */
const MAX_SNAPSHOT_LOADS = 5

/**
 * Resolves with the position of the state machine, after loading a snapshot if it needs one.
 * @throws StartError `LOG_REPLACED`, `LOG_TRIMMED`, `LOG_UNREACHABLE`
 */
export async function resolveStartPosition(
  options: JetStreamLogOptions,
  jsm: JetStreamManager,
  info: StreamInfo,
  snapshots: SnapshotStore,
): Promise<LogPosition> {
  const { service, stream, stateMachine, log, verifyTimeout = VERIFY_TIMEOUT_MS } = options
  let first = 1
  const canStartFrom = (seq: number | undefined) => (seq ?? 0) + 1 >= first
  try {
    let position = stateMachine.getPosition()
    if (position) checkEpoch(info, position)
    for (let tries = 0; ; tries++) {
      // The stream may have been trimmed since it was opened, or during the load of a snapshot.
      first = (await jsm.streams.info(stream)).state.first_seq
      if (canStartFrom(position?.seq)) break
      if (tries === MAX_SNAPSHOT_LOADS)
        throw createTrimmedError(
          `now begins at ${first}: it was trimmed during each of ${MAX_SNAPSHOT_LOADS} snapshot loads`,
        )
      const latest = await waitForUsableSnapshot()
      if (!canStartFrom(latest)) throw createTrimmedError(`begins at ${first}, and no snapshot reaches its beginning`)
      log.info(`${service}: loading the snapshot at sequence ${latest}`)
      await snapshots.load(stateMachine)
      position = stateMachine.getPosition()
    }
    if (position) await verifyStream(jsm, stream, position, { verifyTimeout })
    return position ?? createStartPosition(getEpoch(info))
  } catch (error) {
    if (error instanceof StartError) throw error
    const { message } = error as Error
    if (error instanceof LogReplacedError)
      throw new StartError(error.code, `${service}: stream ${stream} is not the log of this data folder: ${message}`)
    throw new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be read (${message})`)
  }

  /**
   * Polls for a snapshot from which this node can start, until the timeout: a server that was unavailable may not have
   * the newest snapshot yet. Resolves with the newest known one, which may be too old.
   */
  async function waitForUsableSnapshot(): Promise<number | undefined> {
    for (const deadline = performance.now() + verifyTimeout; ; await delay(RETRY_INTERVAL_MS)) {
      const latest = await snapshots.getLatest()
      if (canStartFrom(latest) || performance.now() > deadline) return latest
    }
  }

  function createTrimmedError(detail: string): StartError {
    return new StartError('LOG_TRIMMED', `${service}: stream ${stream} ${detail}`)
  }
}
