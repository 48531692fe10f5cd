import { toGenerationPrefix, STAGED_RANGE } from './page-store.ts'
import type { CatalogMeta } from './generation-reader.ts'

/**
 * Returns a filter that accepts the keys of the current generation, and the pieces of an open import. It rejects older
 * generations, and one that is being written.
 * @param meta the value of the key `meta`
 */
export function createSnapshotFilter(meta: Buffer): (key: Buffer) => boolean {
  const { generation }: CatalogMeta = JSON.parse(meta.toString())
  const prefixes = [toGenerationPrefix(generation), STAGED_RANGE.gte].map((prefix) => Buffer.from(prefix))
  return (key) => prefixes.some((prefix) => prefix.equals(key.subarray(0, prefix.length)))
}
