import type { NatsConnection } from '@nats-io/transport-node'

/** Longer than a leader election (ms). */
const UNRESPONSIVE_AFTER_MS = 10_000
const CHECK_INTERVAL_MS = 2_000

export interface FailoverOptions {
  readonly nc: Pick<NatsConnection, 'reconnect'>
  isUp(): boolean
  /** Returns the time of the log's last reply (ms of `performance.now()`). */
  getLastResponseAt(): number
}

/**
 * Reconnects to another server while the log does not reply: the present server may be partitioned from its peers.
 * Received messages of the log are no proof of contact: only the path to the log may be interrupted.
 * @returns function that stops the checks
 */
export function startFailover({ nc, isUp, getLastResponseAt }: FailoverOptions): () => void {
  const timer = setInterval(() => {
    // The first attempt may reach the same server again: the client cannot choose one.
    if (isUp() && performance.now() - getLastResponseAt() > UNRESPONSIVE_AFTER_MS) void nc.reconnect().catch(() => {})
  }, CHECK_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
