import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'

// `pnpm test:chaos [--long] [--seed SEED] [NAME...]`: tests of faults, kills and overload. It runs the scenarios whose file
// name contains one of the names, such as `power`; without a name, all of them. The short form takes minutes, the long
// form some hours. `kills` in its short form is also a part of `pnpm test:slow`.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, long: { type: 'boolean', default: false } },
})
const seed = values.seed ?? String(randomInt(1_000_000))
process.env.CHAOS_SEED = seed
process.env.CHAOS_FORM = values.long ? 'long' : 'short'
process.stdout.write(`chaos with seed ${seed} (repeat with --seed ${seed}), the ${process.env.CHAOS_FORM} form\n`)
const config = new URL('../vitest.config.ts', import.meta.url).pathname
await startVitest('test', positionals, { config, run: true, watch: false })
process.stdout.write(`seed ${seed}\n`)
