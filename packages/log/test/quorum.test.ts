import type { PeerInfo } from '@nats-io/jetstream'
import { describe, expect, it } from 'vitest'
import { hasQuorum } from '../src/jetstream/stream/quorum.ts'

/** Returns another server of a stream, with the time since its last contact (ms). */
const createReplica = (agoMs: number): PeerInfo => ({
  name: 's',
  current: true,
  offline: false,
  active: agoMs * 1e6,
  lag: 0,
})

const hasQuorumOf = (leader: string, ...agosMs: number[]) =>
  hasQuorum({ cluster: { leader, replicas: agosMs.map(createReplica) } as never })

describe('the info of a stream', () => {
  it('counts from a single server', () => {
    expect(hasQuorum({})).toBe(true)
    expect(hasQuorumOf('a')).toBe(true)
  })

  it('counts from a leader with a majority', () => {
    expect(hasQuorumOf('a', 10, 900)).toBe(true)
    expect(hasQuorumOf('a', 10, 60_000)).toBe(true)
    expect(hasQuorumOf('a', 10, 10, 60_000, 60_000)).toBe(true)
  })

  it('does not count from a leader that has lost its majority', () => {
    expect(hasQuorumOf('a', 3_000, 60_000)).toBe(false)
    expect(hasQuorumOf('a', 10, 60_000, 60_000, 60_000)).toBe(false)
    // Of two servers, one alone is no majority.
    expect(hasQuorumOf('a', 60_000)).toBe(false)
  })

  it('does not count without a leader', () => {
    expect(hasQuorumOf('', 10, 10)).toBe(false)
    expect(hasQuorum({ cluster: { replicas: [createReplica(10), createReplica(10)] } as never })).toBe(false)
  })
})
