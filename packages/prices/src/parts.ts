import type { AnswerStore, AnswerStoreOptions } from './answer-store/answer-store.ts'
import type { IndexKind } from './index/price-index.ts'

/** Creates a part; its module is loaded only if it is selected. */
type PricesPartFactory<Options, Part> = (options: Options) => Promise<Part>
type PricesPartTable<Options, Part> = Readonly<Record<string, PricesPartFactory<Options, Part>>>

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  index: {
    map: async () => (await import('./index/map.ts')).createMapIndex(),
    'map-first-match': async () => (await import('./index/map-first-match.ts')).createMapFirstMatchIndex(),
    roaring: async () => (await import('./index/roaring.ts')).createRoaringIndex(),
    'roaring-offering': async () => (await import('./index/roaring-offering.ts')).createRoaringOfferingIndex(),
    bitset: async () => (await import('./index/bitset.ts')).createBitsetIndex(),
  } satisfies PricesPartTable<void, IndexKind>,

  catalog: {
    memory: async (options) => (await import('./answer-store/memory.ts')).createMemoryStore(options),
    'lru-level': async (options) => (await import('./answer-store/lru-level.ts')).createLruLevelStore(options),
  } satisfies PricesPartTable<AnswerStoreOptions, AnswerStore>,
} as const

/** Stores whose answers are in memory that the main thread fills and all threads share. */
export const SHARED_STORES: readonly string[] = ['memory']

/**
 * A name for the first available index of `BITMAP_INDEXES`, in settings and in paths. The source project has this name in
 * its paths.
 */
export const BITMAP_ALIAS = 'bitmap'
export const BITMAP_INDEXES = ['roaring-offering', 'bitset'] as const

/** Returns the names of a part's alternatives. */
export const listPartNames = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
