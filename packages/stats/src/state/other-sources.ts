import type { OtherSource, Sources } from '../core/sources.ts'
import { SOURCE_KINDS } from '../core/record-kinds.ts'
import { getSourceKeys, type StatsKeyRange } from './level-keys.ts'
import type { StatsState } from './stats-state.ts'

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
    let records = 0
    for (const kind of SOURCE_KINDS) records += await count(keys.records(kind))
    const [collections, points] = [await count(keys.allSnapshots()), await count(keys.allPoints())]
    counts.push({ source, collections, points, records })
  }
  return counts
}

interface OtherSourcesLog {
  info(line: string): void
  warn(fault: unknown, line: string): void
}

/** Logs once, after a start, how many stored numbers belong to other sources and are not in use. */
export function reportOtherSources(
  { countOtherSources }: Pick<StatsState, 'countOtherSources'>,
  source: string,
  log: OtherSourcesLog,
) {
  let isClosed = false

  async function report(): Promise<void> {
    try {
      const found = (await countOtherSources?.()) ?? []
      const others = found.filter(({ collections, points, records }) => collections + points + records > 0)
      if (others.length > 0 && !isClosed) log.info(formatLine(others, source))
    } catch (fault) {
      if (!isClosed) log.warn(fault, 'stats: the numbers of other sources could not be counted')
    }
  }

  const reported = report()
  return {
    async close(): Promise<void> {
      isClosed = true
      await reported
    },
  }
}

function formatLine(others: readonly OtherSource[], source: string): string {
  const parts = others.map(
    ({ source, collections, points }) => `${source} (${collections} collections, ${points} points)`,
  )
  return `stats: numbers come from ${source}; stored separately: ${parts.join(', ')}`
}
