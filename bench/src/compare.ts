import type { Row, Round } from './row.ts'
import { measureOnce, type MeasureOptions } from './measure.ts'
import { isDifference, medianInterval, type Interval } from './statistics.ts'

export interface CompareOptions extends MeasureOptions {
  /** At least 10. */
  readonly pairs: number
}

/** One figure of A as a multiple of B's. */
export interface Ratio extends Interval {
  readonly figure: string
  readonly ratios: readonly number[]
  readonly differs: boolean
}

const FIGURES: Record<string, (round: Round) => number> = {
  'requests/s': ({ perSecond }) => perSecond,
  'CPU per request': ({ cpuPerRequest }) => cpuPerRequest,
}

async function runFresh(row: Row, { closed, warmUp, duration }: CompareOptions): Promise<Round> {
  const running = await row.contender.start()
  try {
    await row.prepare(running)
    await measureOnce(row, running, closed, { duration: warmUp })
    return await measureOnce(row, running, closed, { duration })
  } finally {
    await running.stop()
  }
}

/**
 * Measures two rows in pairs, each in a fresh process, the first of a pair in turn A and B; the machine may change its
 * speed from pair to pair, but hardly within one.
 */
export async function compareRows(a: Row, b: Row, options: CompareOptions): Promise<Ratio[]> {
  const pairs: { a: Round; b: Round }[] = []
  for (let i = 0; i < options.pairs; i++) {
    const rounds = new Map<Row, Round>()
    for (const [j, row] of (i % 2 === 0 ? [a, b] : [b, a]).entries()) {
      options.onStep?.(`pair ${i + 1} of ${options.pairs}: ${row === a ? 'A' : 'B'}`, 2 * i + j + 1, 2 * options.pairs)
      rounds.set(row, await runFresh(row, options))
    }
    pairs.push({ a: rounds.get(a)!, b: rounds.get(b)! })
  }
  return Object.entries(FIGURES).map(([figure, valueOf]) => {
    const ratios = pairs.map((pair) => valueOf(pair.a) / valueOf(pair.b))
    const interval = medianInterval(ratios)
    return { figure, ratios, ...interval, differs: isDifference(interval) }
  })
}
