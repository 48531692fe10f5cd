import type { Encoder } from './encoder/encoder.ts'
import type { Sink } from './sink.ts'

/** Streams that get the same bytes: the same topics in the same encoding. */
export class Group {
  readonly key: string
  readonly encoder: Encoder
  readonly topics: readonly string[]
  readonly heartbeat: Buffer
  readonly sinks = new Set<Sink>()
  /** What is written at the end of this turn. */
  pending: Buffer[] = []

  constructor(key: string, encoder: Encoder, topics: readonly string[]) {
    this.key = key
    this.encoder = encoder
    this.topics = topics
    this.heartbeat = Buffer.from(encoder.heartbeat)
  }
}
