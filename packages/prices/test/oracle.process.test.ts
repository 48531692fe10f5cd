import { expect, it } from 'vitest'
import { ROTATION, runOracle } from './oracle/run-oracle.ts'
import { INDEXES } from './support/available-indexes.ts'

/** Duration of all episodes, without the starts of their services (ms). */
const DURATION_MS = 60_000

const { PRICES_ORACLE_SEED: seed = '37', PRICES_ORACLE_EPISODE: chosen } = process.env
const episodes = chosen === undefined ? Array.from({ length: ROTATION }, (_, i) => i) : [Number(chosen)]

it.each(episodes)(
  `answers like an independent model of its contract (seed ${seed}, episode %i)`,
  async (episode) => {
    let end: number | undefined
    const counts = await runOracle({
      seed,
      command: 'test prices/test/oracle',
      indexes: INDEXES,
      from: episode,
      end: episode + 1,
      changesPerKill: 100,
      isDone: () => Date.now() > (end ??= Date.now() + DURATION_MS / ROTATION),
    })
    expect(counts.queries).toBeGreaterThan(0)
  },
  180_000,
)
