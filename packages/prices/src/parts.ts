import type { Catalog, CatalogOptions } from './catalog/catalog.ts'
import type { IndexKind } from './index/index.ts'

/** Makes a part; its module is loaded only when it is chosen. */
type Factory<Options, Part> = (options: Options) => Promise<Part>
type Table<Options, Part> = Readonly<Record<string, Factory<Options, Part>>>

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  index: {
    map: async () => (await import('./index/map.ts')).createMapIndex(),
    'map-first-match': async () => (await import('./index/map-first-match.ts')).createMapFirstMatchIndex(),
    roaring: async () => (await import('./index/roaring.ts')).createRoaringIndex(),
    'roaring-offering': async () => (await import('./index/roaring-offering.ts')).createRoaringOfferingIndex(),
    bitset: async () => (await import('./index/bitset.ts')).createBitsetIndex(),
  } satisfies Table<void, IndexKind>,

  catalog: {
    memory: async (options) => (await import('./catalog/memory.ts')).createMemoryCatalog(options),
    'lru-level': async (options) => (await import('./catalog/lru-level.ts')).createLruLevelCatalog(options),
  } satisfies Table<CatalogOptions, Catalog>,
} as const

/** Catalogs whose answers lie in memory that main fills and all threads share. */
export const SHARED_CATALOGS: readonly string[] = ['memory']

/** A name for whichever of these there is, the first that can be had: in settings, and in paths as in the program this one mirrors. */
export const BITMAP = 'bitmap'
export const BITMAPS = ['roaring-offering', 'bitset'] as const

/** The names of a part's alternatives. */
export const namesOf = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
