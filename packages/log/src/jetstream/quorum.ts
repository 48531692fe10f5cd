import type { StreamInfo } from '@nats-io/jetstream'

/** Servers hear of each other every second: one that was silent for longer is taken for gone (ms). */
const PEER_TIMEOUT_MS = 3_000

/**
 * Whether what was told of a stream is what most of its servers agree on. One that was left alone tells of the stream as
 * it knew it: without a leader at all, or, for some seconds, with itself for one.
 */
export function hasQuorum({ cluster }: Pick<StreamInfo, 'cluster'>): boolean {
  if (!cluster) return true
  const { leader, replicas = [] } = cluster
  if (!leader) return false
  const reachable = replicas.filter(({ active }) => active / 1e6 < PEER_TIMEOUT_MS).length
  return 2 * (1 + reachable) > 1 + replicas.length
}

/** @throws Error where a server was left alone: what it tells may be long past */
export function checkQuorum(info: Pick<StreamInfo, 'cluster'>): void {
  if (!hasQuorum(info)) throw new Error('most of its servers are away')
}
