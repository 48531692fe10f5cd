import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { ROTATION, runOracle } from './oracle/run-oracle.ts'
import { INDEXES } from './support/available-indexes.ts'

// The long form of oracle.process.test.ts.

const QUERIES = 50_000
const CHANGES = 5_000
const CHANGES_PER_KILL = 40

const { PRICES_ORACLE_SEED: seed = String(randomInt(1_000_000)), PRICES_ORACLE_EPISODE: chosen } = process.env

it(`answers like an independent model of its contract, with kills (seed ${seed})`, async () => {
  const from = Number(chosen ?? 0)
  const { queries, changes, kills } = await runOracle({
    seed,
    command: 'test:day prices/test/oracle',
    indexes: INDEXES,
    from,
    end: chosen === undefined ? ROTATION : from + 1,
    changesPerKill: CHANGES_PER_KILL,
    isDone: (counts) => counts.queries >= QUERIES / ROTATION && counts.changes >= CHANGES / ROTATION,
  })
  process.stdout.write(`seed ${seed}: ${queries} queries, ${changes} changes, ${kills} kills, 0 wrong answers\n`)
  expect(kills).toBeGreaterThan(0)
}, 3_600_000)
