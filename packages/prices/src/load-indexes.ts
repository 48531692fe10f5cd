import { StartError } from '@influencer-stats/runtime/errors'
import type { IndexKind } from './index/index.ts'
import { namesOf, parts } from './parts.ts'
import type { PricesConfig } from './settings.ts'

/** The indexes that a configuration names. @throws StartError `UNKNOWN_INDEX` */
export async function loadIndexes({ indexes }: Pick<PricesConfig, 'indexes'>): Promise<Map<string, IndexKind>> {
  const known: readonly string[] = namesOf('index')
  const unknown = indexes.filter((name) => !known.includes(name))
  if (unknown.length > 0 || indexes.length === 0) {
    throw new StartError('UNKNOWN_INDEX', `prices: indexes can be ${known.join(', ')}, not "${unknown.join(', ')}"`)
  }
  const kinds = new Map<string, IndexKind>()
  for (const name of new Set(indexes)) kinds.set(name, await parts.index[name as keyof typeof parts.index]())
  return kinds
}
