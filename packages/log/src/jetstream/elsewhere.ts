import type { NatsConnection } from '@nats-io/transport-node'

/** More than it takes to choose a leader (ms). */
const SILENT = 10_000
const TRY_EVERY = 2_000

export interface ElsewhereOptions {
  readonly nc: Pick<NatsConnection, 'reconnect'>
  isUp(): boolean
  /** When the log last answered (ms, of `performance.now()`). */
  answeredAt(): number
}

/**
 * Goes to another server while the log does not answer: the one that this node is at may be cut off from the others, and
 * this node not. That something is heard of the log says nothing: the way there may be cut alone.
 * @returns what ends it
 */
export function goElsewhere({ nc, isUp, answeredAt }: ElsewhereOptions): () => void {
  const timer = setInterval(() => {
    // The first time it may be the same one again: the client has no choice of it.
    if (isUp() && performance.now() - answeredAt() > SILENT) void nc.reconnect().catch(() => {})
  }, TRY_EVERY).unref()
  return () => clearInterval(timer)
}
