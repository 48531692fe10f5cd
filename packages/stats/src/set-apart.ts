import type { SetApart } from './core/sources.ts'
import type { State } from './state/state.ts'

interface SetApartLog {
  info(line: string): void
  warn(fault: unknown, line: string): void
}

/** Logs once, after a start, how many stored numbers belong to other sources and do not count. */
export function reportSetApart({ setApart }: Pick<State, 'setApart'>, source: string, log: SetApartLog) {
  let isClosed = false

  async function report(): Promise<void> {
    try {
      const found = (await setApart?.()) ?? []
      const others = found.filter(({ collections, points }) => collections + points > 0)
      if (others.length > 0 && !isClosed) log.info(lineOf(others, source))
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

function lineOf(others: readonly SetApart[], source: string): string {
  const parts = others.map(
    ({ source, collections, points }) => `${source} (${collections} collections, ${points} points)`,
  )
  return `stats: numbers come from ${source}; set apart are those of ${parts.join(', ')}`
}
