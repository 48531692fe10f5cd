import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runModel } from './run-model.ts'

// `pnpm test:model [--minutes N] [--seed SEED] [--from EPISODE] [--episodes N] [--lifecycles N] [--steps N]` compares kv
// with an independent model of its contract. It exits with 1 at the first difference and prints the command that repeats the
// episode.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: process.env.KV_MODEL_SEED ?? String(randomInt(1_000_000)) },
    from: { type: 'string', default: '0' },
    episodes: { type: 'string', default: 'Infinity' },
    lifecycles: { type: 'string', default: '3' },
    steps: { type: 'string', default: '60' },
  },
})
const { seed } = values
const from = Number(values.from)
const end = from + Number(values.episodes)
const endsAt = Date.now() + Number(values.minutes) * 60_000
const report = (line: string) => void process.stdout.write(`${line}\n`)
report(`model with seed ${seed} (--seed ${seed} makes the same choices)`)
try {
  const isDone = (index: number) => index >= end || Date.now() >= endsAt
  const size = { lifecycles: Number(values.lifecycles), steps: Number(values.steps) }
  const episodes = await runModel({ seed, from, ...size, isDone, report })
  report(`seed ${seed}: ${episodes} episodes without a difference`)
} catch (error) {
  report((error as Error).message)
  // Clients of the failed episode may still wait for replies.
  process.exit(1)
}
