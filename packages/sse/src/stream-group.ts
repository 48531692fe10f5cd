import type { SmallSet } from './core/small-set.ts'
import { getSetSize } from './core/small-set.ts'
import type { ReadScope } from './core/read-scope.ts'
import type { Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { PieceList } from '@influencer-stats/runtime/piece-list'

/** Streams that receive the same bytes: the same topics in the same encoding, for readers with the same access. */
export class StreamGroup {
  readonly key: string
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: ReadScope
  connections: SmallSet<StreamConnection> | undefined
  /** Number of streams whose replay is not complete. */
  replaying = 0
  /** Events to write; usually none, as a list that all groups share. */
  pending: PieceList
  /** Sequence number of the last event for which the index found this group. */
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
