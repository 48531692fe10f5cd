import type { NatsConnection } from '@nats-io/transport-node'

/** More than it takes to choose a leader (ms). */
const UNRESPONSIVE_AFTER_MS = 10_000
const CHECK_INTERVAL_MS = 2_000

export interface FailoverOptions {
  readonly nc: Pick<NatsConnection, 'reconnect'>
  isUp(): boolean
  /** When the log last answered (ms, of `performance.now()`). */
  getLastResponseAt(): number
}

/**
 * Goes to another server while the log does not answer: the one that this node is at may be cut off from the others, and
 * this node not. That something is heard of the log says nothing: the way there may be cut alone.
 * @returns what ends it
 */
export function startFailover({ nc, isUp, getLastResponseAt }: FailoverOptions): () => void {
  const timer = setInterval(() => {
    // The first time it may be the same one again: the client has no choice of it.
    if (isUp() && performance.now() - getLastResponseAt() > UNRESPONSIVE_AFTER_MS) void nc.reconnect().catch(() => {})
  }, CHECK_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
