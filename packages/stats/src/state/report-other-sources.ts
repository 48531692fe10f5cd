import type { OtherSource } from '../core/sources.ts'
import type { StatsState } from './stats-state.ts'

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
      const others = found.filter(({ collections, points }) => collections + points > 0)
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
