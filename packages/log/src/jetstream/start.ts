import { StartError } from '@influencer-stats/runtime/errors'
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Position } from '../log.ts'
import { beginning } from '../order/order.ts'
import { checkEpoch, checkGround, epochOf, LogReplacedError, PATIENCE, RETRY_EVERY } from './check.ts'
import type { JetStreamLogOptions } from './options.ts'
import type { Snapshots } from './snapshots.ts'

/** Snapshots that were too old by the time that they were loaded. */
const MOST_TRIES = 5

/**
 * Where the view stands, once it has a snapshot if it wants one.
 * @throws StartError `LOG_REPLACED`, `LOG_TRIMMED`, `LOG_UNREACHABLE`
 */
export async function startingPosition(
  options: JetStreamLogOptions,
  jsm: JetStreamManager,
  info: StreamInfo,
  snapshots: Snapshots,
): Promise<Position> {
  const { service, stream, view, log, patience = PATIENCE } = options
  let { first_seq: first } = info.state
  const fits = (seq: number | undefined) => (seq ?? 0) + 1 >= first
  try {
    let position = view.position()
    if (position) checkEpoch(info, position)
    for (let tries = 0; !fits(position?.seq); tries++) {
      if (tries === MOST_TRIES) throw trimmed(`begins at ${first}, and its snapshot is of before`)
      const newest = await newestThatFits()
      if (!fits(newest)) throw trimmed(`begins at ${first}, and there is no snapshot of before`)
      log.info(`${service}: starting from the snapshot at ${newest}`)
      await snapshots.load(view)
      position = view.position()
      // It may have been trimmed meanwhile.
      first = (await jsm.streams.info(stream)).state.first_seq
    }
    if (position) await checkGround(jsm, stream, position, { patience })
    return position ?? beginning(epochOf(info))
  } catch (error) {
    if (error instanceof StartError) throw error
    const { message } = error as Error
    if (error instanceof LogReplacedError)
      throw new StartError(error.code, `${service}: stream ${stream} is not the log of this data folder: ${message}`)
    throw new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be read (${message})`)
  }

  /** A server that was away may not have the newest yet. */
  async function newestThatFits(): Promise<number | undefined> {
    for (const deadline = performance.now() + patience; ; await delay(RETRY_EVERY)) {
      const newest = await snapshots.newest()
      if (fits(newest) || performance.now() > deadline) return newest
    }
  }

  function trimmed(words: string): StartError {
    return new StartError('LOG_TRIMMED', `${service}: stream ${stream} ${words}`)
  }
}
