import type { SetApart, Sources } from '../core/sources.ts'
import { keysOfSource, type KeyRange } from './keys.ts'

/** What there is of each source but the current one. @param count the keys of a range */
export async function countSetApart(
  { names, current }: Sources,
  count: (range: KeyRange) => Promise<number>,
): Promise<SetApart[]> {
  const counts: SetApart[] = []
  for (const [position, source] of names.entries()) {
    if (position === current) continue
    const keys = keysOfSource(position)
    counts.push({ source, collections: await count(keys.allSnapshots()), points: await count(keys.allPoints()) })
  }
  return counts
}
