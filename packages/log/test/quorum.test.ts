import type { PeerInfo } from '@nats-io/jetstream'
import { describe, expect, it } from 'vitest'
import { hasQuorum } from '../src/jetstream/quorum.ts'

/** Another server of a stream, heard of so many ms ago. */
const createReplica = (agoMs: number): PeerInfo => ({
  name: 's',
  current: true,
  offline: false,
  active: agoMs * 1e6,
  lag: 0,
})

const hasQuorumOf = (leader: string, ...agosMs: number[]) =>
  hasQuorum({ cluster: { leader, replicas: agosMs.map(createReplica) } as never })

describe('whether what a server tells of a stream counts', () => {
  it('does of a server that is alone', () => {
    expect(hasQuorum({})).toBe(true)
    expect(hasQuorumOf('a')).toBe(true)
  })

  it('does of a leader that most of the others follow', () => {
    expect(hasQuorumOf('a', 10, 900)).toBe(true)
    expect(hasQuorumOf('a', 10, 60_000)).toBe(true)
    expect(hasQuorumOf('a', 10, 10, 60_000, 60_000)).toBe(true)
  })

  it('does not of a leader that has lost them, and does not know it yet', () => {
    expect(hasQuorumOf('a', 3_000, 60_000)).toBe(false)
    expect(hasQuorumOf('a', 10, 60_000, 60_000, 60_000)).toBe(false)
    // Two are no majority without each other.
    expect(hasQuorumOf('a', 60_000)).toBe(false)
  })

  it('does not of one that knows no leader', () => {
    expect(hasQuorumOf('', 10, 10)).toBe(false)
    expect(hasQuorum({ cluster: { replicas: [createReplica(10), createReplica(10)] } as never })).toBe(false)
  })
})
