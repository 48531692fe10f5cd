import type { Row, Round } from './row.ts'
import { measureOnce, type MeasureOptions } from './measure.ts'
import { ratiosOf, type Ratio } from './ratios.ts'

export interface CompareOptions extends MeasureOptions {
  /** At least 10. */
  readonly pairs: number
}

async function runFresh(row: Row, { closed, warmUp, duration }: CompareOptions): Promise<Round> {
  const running = await row.contender.start()
  try {
    await row.prepare(running)
    await measureOnce(row, running, closed, warmUp)
    return await measureOnce(row, running, closed, duration)
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
  return ratiosOf(
    pairs.map((pair) => pair.a),
    pairs.map((pair) => pair.b),
  )
}
