import type { SmallSet } from '../core/small-set.ts'
import { getSetSize } from '../core/small-set.ts'
import type { ReadScope } from '../core/read-scope.ts'
import type { Selectors } from '../core/selectors.ts'
import type { Encoder } from '../encoder/encoder.ts'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { PieceList } from '@influencer-stats/runtime/piece-list'

/** Streams that receive the same bytes: with the same selectors, encoder and read scope. */
export class StreamGroup {
  readonly key: string
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: ReadScope
  /** Streams without a replay, or whose replay is complete. */
  connections: SmallSet<StreamConnection> | undefined
  /** Number of streams whose replay is not complete yet. */
  replaying = 0
  /** Encoded events that are not written yet. If there are none, an empty list that all groups share. */
  pending: PieceList
  /** Sequence number of the last event that matched the selectors. It prevents a second delivery of the same event. */
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
