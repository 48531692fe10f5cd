import type { OtherSource, Sources } from '../core/sources.ts'
import { getSourceKeys, type StatsKeyRange } from './level-keys.ts'

/**
 * Counts the data of each source but the current one.
 * @param count counts the keys of a range
 */
export async function countSourceRows(
  { names, current }: Sources,
  count: (range: StatsKeyRange) => Promise<number>,
): Promise<OtherSource[]> {
  const counts: OtherSource[] = []
  for (const [position, source] of names.entries()) {
    if (position === current) continue
    const keys = getSourceKeys(position)
    counts.push({ source, collections: await count(keys.allSnapshots()), points: await count(keys.allPoints()) })
  }
  return counts
}
