import type { Framing, StreamConnection } from '@influencer-stats/runtime/hot-route'

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
