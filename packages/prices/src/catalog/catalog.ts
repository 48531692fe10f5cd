import type { AnswerBlock } from '../core/answers.ts'

/** Blocks of answers that changed, by number: their bytes where the catalog holds them in memory. */
export type Blocks = Map<number, Uint8Array | undefined>

/** What is needed to answer with a row, as one thread reads it. Synchronous. */
export interface Catalog {
  block(number: number): AnswerBlock
  /** The same catalog after a change. This one goes on as it was until it is closed. */
  with(changed: Blocks): Catalog
  /** Idempotent. */
  close(): Promise<void>
}

/** Where blocks are kept. */
export interface BlockStore {
  /** The content of a block, as of the moment the store was made. */
  read(number: number): Uint8Array
  /** A store that reads as of now. */
  renew(): BlockStore
  /** Idempotent. */
  close(): Promise<void>
}

export interface CatalogOptions {
  /** All blocks, where `holdsBlocks`. */
  readonly blocks: Blocks
  readonly store: BlockStore
  /** How much an evicting catalog keeps (bytes). */
  readonly cacheBytes: number
}
