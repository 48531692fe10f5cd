import { generationPrefix, STAGED } from '../page-store.ts'
import type { Meta } from './generations.ts'

/** What belongs to a catalog: not the one that is being made beside it, or that was before it. @param meta its `meta` */
export function isOfCatalog(meta: Buffer): (key: Buffer) => boolean {
  const { generation }: Meta = JSON.parse(meta.toString())
  const prefixes = [generationPrefix(generation), STAGED.gte].map((prefix) => Buffer.from(prefix))
  return (key) => prefixes.some((prefix) => prefix.equals(key.subarray(0, prefix.length)))
}
