import type { Few } from './core/few.ts'
import { countOf } from './core/few.ts'
import type { Reader } from './core/reader.ts'
import type { Selectors } from './core/selectors.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { StreamConnection } from '@influencer-stats/runtime/hot-route'
import type { PieceList } from '@influencer-stats/runtime/piece-list'

/** Streams that get the same bytes: the same topics in the same encoding, for readers who may see the same. */
export class Group {
  readonly key: string
  readonly encoder: Encoder
  readonly selectors: Selectors
  readonly reader: Reader
  connections: Few<StreamConnection> | undefined
  /** Streams that have yet to be told what came before. */
  arriving = 0
  /** What is to be written; most often nothing, the same for all. */
  pending: PieceList
  /** The last event that it was found for. */
  lastSeq = 0

  constructor(
    key: string,
    { encoder, selectors, reader, pending }: Pick<Group, 'encoder' | 'selectors' | 'reader' | 'pending'>,
  ) {
    this.key = key
    this.encoder = encoder
    this.selectors = selectors
    this.reader = reader
    this.pending = pending
  }

  get size(): number {
    return countOf(this.connections) + this.arriving
  }
}
