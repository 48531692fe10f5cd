import type { StreamInfo } from '@nats-io/jetstream'

/**
 * A server without contact to the leader for this time counts as unreachable (ms). Servers have contact every second.
 */
export const PEER_TIMEOUT_MS = 3_000

/**
 * True if a majority of a stream's servers supports its info: the info names a leader, and the leader and the servers
 * in contact with it are more than half of all. Also true for a server without a cluster. A partitioned server reports
 * an old state: without a leader or, for some seconds, with itself as the leader.
 */
export function hasQuorum({ cluster }: Pick<StreamInfo, 'cluster'>): boolean {
  if (!cluster) return true
  const { leader, replicas = [] } = cluster
  if (!leader) return false
  const reachable = replicas.filter(({ active }) => active / 1e6 < PEER_TIMEOUT_MS).length
  return 2 * (1 + reachable) > 1 + replicas.length
}

/** @throws Error if the info has no quorum: it may be outdated */
export function checkQuorum(info: Pick<StreamInfo, 'cluster'>): void {
  if (!hasQuorum(info)) throw new Error('a majority of its servers is unreachable')
}
