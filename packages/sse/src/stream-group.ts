import type { SmallSet } from './core/small-set.ts'
import { getSetSize } from './core/small-set.ts'
import type { ReadScope } from './core/read-scope.ts'
import type { Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { PieceList } from '@influencer-stats/runtime/piece-list'

/** Streams that get the same bytes: the same topics in the same encoding, for readers who may see the same. */
export class StreamGroup {
  readonly key: string
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: ReadScope
  connections: SmallSet<StreamConnection> | undefined
  /** Streams that have yet to be told what came before. */
  replaying = 0
  /** What is to be written; most often nothing, the same for all. */
  pending: PieceList
  /** The last event that it was found for. */
  lastSeq = 0

  constructor(
    key: string,
    { encoder, selectors, reader, pending }: Pick<StreamGroup, 'encoder' | 'selectors' | 'reader' | 'pending'>,
  ) {
    this.key = key
    this.encoder = encoder
    this.selectors = selectors
    this.reader = reader
    this.pending = pending
  }

  get size(): number {
    return getSetSize(this.connections) + this.replaying
  }
}
