import { toGenerationPrefix, STAGED_RANGE } from '../page-store.ts'
import type { CatalogMeta } from './generations.ts'

/** What belongs to a catalog: not the one that is being made beside it, or that was before it. @param meta its `meta` */
export function createSnapshotFilter(meta: Buffer): (key: Buffer) => boolean {
  const { generation }: CatalogMeta = JSON.parse(meta.toString())
  const prefixes = [toGenerationPrefix(generation), STAGED_RANGE.gte].map((prefix) => Buffer.from(prefix))
  return (key) => prefixes.some((prefix) => prefix.equals(key.subarray(0, prefix.length)))
}
