import type { NatsConnection } from '@nats-io/transport-node'

/** Time without a reply after which the node reconnects (ms). It is longer than a leader election. */
const UNRESPONSIVE_AFTER_MS = 10_000
const CHECK_INTERVAL_MS = 2_000

export interface FailoverOptions {
  readonly nc: Pick<NatsConnection, 'reconnect'>
  /** True while there is a connection. */
  isUp(): boolean
  /** Returns the time of the last reply from a server with a quorum (ms of `performance.now`). */
  getLastResponseAt(): number
}

/**
 * Reconnects, possibly to another server, while the log does not reply: the current server may be partitioned from its
 * peers.
 * Messages that still arrive from the log do not count as a reply: requests to the log may fail nevertheless.
 * @returns function that stops the checks
 */
export function startFailover({ nc, isUp, getLastResponseAt }: FailoverOptions): () => void {
  const timer = setInterval(() => {
    // The client chooses the server, so an attempt may reach the same one again.
    if (isUp() && performance.now() - getLastResponseAt() > UNRESPONSIVE_AFTER_MS) void nc.reconnect().catch(() => {})
  }, CHECK_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
