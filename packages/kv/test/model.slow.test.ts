import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { runModel } from './model/run-model.ts'
import { CONFIGURATIONS } from './model/service.ts'

/** Minimum duration of the test (ms). It also runs at least one episode of each configuration. */
const DURATION_MS = 60_000

const seed = process.env.KV_MODEL_SEED ?? String(randomInt(1_000_000))

it(`behaves like an independent model of its contract, with restarts, kills, copies and backups (seed ${seed})`, async () => {
  const endsAt = Date.now() + DURATION_MS
  const isDone = (episode: number) => episode >= CONFIGURATIONS.length && Date.now() >= endsAt
  // `pnpm test:model` runs for an hour and prints a summary of each episode.
  const episodes = await runModel({ seed, lifecycles: 1, steps: 25, isDone, report() {} })
  expect(episodes).toBeGreaterThanOrEqual(CONFIGURATIONS.length)
}, 900_000)
