import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogPosition } from '../log.ts'
import { FrameError } from '../errors.ts'
import { readPart } from '../order/frame.ts'
import { checkQuorum } from './quorum.ts'

/** The log is not the one that the view was made of, or not any more: whoever went on would make another thing of it. */
export class LogReplacedError extends Error {
  readonly code = 'LOG_REPLACED'
}

/** What must be so for a view to go on. */
export type LogIdentity = Pick<LogPosition, 'epoch' | 'seq' | 'check'>

/** Which log a stream is: made anew, it is another one. */
export const getEpoch = ({ created }: StreamInfo): string => created

/** @throws LogReplacedError */
export function checkEpoch(info: StreamInfo, { epoch }: Pick<LogIdentity, 'epoch'>): void {
  if (getEpoch(info) !== epoch)
    throw new LogReplacedError(`it was made anew (${getEpoch(info)}; what is here is of ${epoch})`)
}

// A server that stood still takes itself for the leader for a moment, and tells of a stream that is shorter than it is.
export const VERIFY_TIMEOUT_MS = 15_000
export const RETRY_INTERVAL_MS = 250

/**
 * Resolves once a stream is known to be what a view was made of: servers whose disks were put back look well, and would be
 * followed in silence from where the view stands.
 * @throws LogReplacedError; another error where no server can be asked that knows
 */
export async function verifyStream(
  jsm: JetStreamManager,
  stream: string,
  identity: LogIdentity,
  { verifyTimeout = VERIFY_TIMEOUT_MS, signal }: { verifyTimeout?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const { seq } = identity
  for (const deadline = performance.now() + verifyTimeout; ;) {
    const info = await jsm.streams.info(stream)
    checkQuorum(info)
    checkEpoch(info, identity)
    // What was trimmed cannot be looked at.
    if (seq === 0 || seq < info.state.first_seq) return
    if (info.state.last_seq >= seq && (await hasMessage(jsm, stream, identity))) return
    if (performance.now() > deadline)
      throw new LogReplacedError(`it ends at ${info.state.last_seq}, and what is here at ${seq}: it was put back`)
    await delay(RETRY_INTERVAL_MS, undefined, { signal })
  }
}

/** Whether what was applied last stands there; not where a server does not have it yet. @throws LogReplacedError */
async function hasMessage(jsm: JetStreamManager, stream: string, { seq, check }: LogIdentity): Promise<boolean> {
  const message = await jsm.streams.getMessage(stream, { seq })
  if (!message) return false
  if (readChecksum(message.data) === check) return true
  throw new LogReplacedError(`at ${seq} stands another message than was applied here: it was put back`)
}

function readChecksum(data: Uint8Array): number | undefined {
  try {
    return readPart(Buffer.from(data)).check
  } catch (error) {
    if (error instanceof FrameError) return undefined
    throw error
  }
}
