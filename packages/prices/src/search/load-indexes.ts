import { StartError } from '@influencer-stats/runtime/errors'
import type { IndexKind } from '../index/price-index.ts'
import { BITMAP_ALIAS, BITMAP_INDEXES, listPartNames, parts } from '../parts.ts'
import type { PricesConfig } from '../settings.ts'

const loadIndex = (name: string): Promise<IndexKind> => parts.index[name as keyof typeof parts.index]()

/** Indexes by their names. */
export type LoadedIndexes = ReadonlyMap<string, IndexKind>

/**
 * Loads the indexes that a configuration names.
 * @throws StartError `UNKNOWN_INDEX`, `ROARING_MISSING`
 */
export async function loadIndexes({ indexes }: Pick<PricesConfig, 'indexes'>): Promise<LoadedIndexes> {
  const known: readonly string[] = [BITMAP_ALIAS, ...listPartNames('index')]
  const unknown = indexes.filter((name) => !known.includes(name))
  if (unknown.length > 0 || indexes.length === 0) {
    throw new StartError('UNKNOWN_INDEX', `prices: --indexes accepts ${known.join(', ')}, not "${unknown.join(', ')}"`)
  }
  const kinds = new Map<string, IndexKind>()
  for (const name of new Set(indexes)) {
    if (name === BITMAP_ALIAS) kinds.set(...(await loadBitmap()))
    else kinds.set(name, await loadIndex(name))
  }
  return kinds
}

/** Loads the first bitmap index, or the second if the binary of the first is missing. */
async function loadBitmap(): Promise<[string, IndexKind]> {
  const [first, second] = BITMAP_INDEXES
  try {
    return [first, await loadIndex(first)]
  } catch (error) {
    if ((error as StartError).code !== 'ROARING_MISSING') throw error
    return [second, await loadIndex(second)]
  }
}

/** Returns the name of the loaded index to which `bitmap` refers. */
export const findBitmapIndex = (indexes: ReadonlyMap<string, unknown>): string | undefined =>
  BITMAP_INDEXES.find((name) => indexes.has(name))
