import type { Encoder } from './encoder/encoder.ts'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'

/** Streams that get the same bytes: the same topics in the same encoding. */
export class Group {
  readonly key: string
  readonly encoder: Encoder
  readonly topics: readonly string[]
  readonly heartbeat: Buffer
  readonly connections = new Set<StreamConnection>()
  /** Streams that have yet to be told what came before. */
  arriving = 0
  /** What is to be written. */
  pending: Buffer[] = []

  constructor(key: string, encoder: Encoder, topics: readonly string[]) {
    this.key = key
    this.encoder = encoder
    this.topics = topics
    this.heartbeat = Buffer.from(encoder.heartbeat)
  }

  get size(): number {
    return this.connections.size + this.arriving
  }
}
