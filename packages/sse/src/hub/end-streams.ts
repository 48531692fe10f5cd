import type { Framing, StreamConnection } from '@influencer-stats/runtime/hot-route'
import { formatEventId } from '../core/event-id.ts'
import type { HubOptions } from './hub-options.ts'
import type { StreamRequest } from './stream-request.ts'

// Time after which the connection of an ended stream is destroyed, even if its client has not read everything (ms).
const CLOSE_TIMEOUT_MS = 5_000

/**
 * Ends streams that the hub has already removed.
 * @param framing framing of the streams, whose end shows the clients that their streams are complete
 */
export function endStreams(
  ended: readonly StreamConnection[],
  { frame, end }: Framing,
  encodeFinalEvent: () => string,
): void {
  for (const connection of ended) {
    const text = frame(encodeFinalEvent()) + end
    if (text !== '') connection.write(text)
    if (connection.destroySoon) connection.destroySoon()
    else connection.end()
  }
  // A client that does not read its stream would stay connected, because it does not read this end either.
  if (ended.length > 0) setTimeout(() => ended.forEach((connection) => connection.destroy()), CLOSE_TIMEOUT_MS).unref()
}

/** Returns the time after which a client reconnects (ms). A random addition spreads the reconnections. */
export const pickRetry = (retry: number): number => Math.round(retry * (1 + Math.random()))

/**
 * Opens a stream and ends it at once, because the service stops. Its client reconnects. A client that does not resume
 * gets the id after which its stream begins, so that it misses no value.
 * @param head head of the HTTP reply
 */
export function endNewStream(
  connection: StreamConnection,
  { encoder, isEventSource, last, resumeAfter }: StreamRequest,
  { history, retry }: Pick<HubOptions, 'history' | 'retry'>,
  head: string,
): void {
  const isNew = !last && resumeAfter === undefined
  const position = isNew ? encoder.encodePosition(formatEventId(history.epoch, history.seq), isEventSource) : ''
  const begin = head + (position && encoder.framing.frame(position))
  if (begin !== '') connection.write(begin)
  endStreams([connection], encoder.framing, () => encoder.encodeGoodbye(pickRetry(retry)))
}
