import type { LoadPlan, LoadResult } from './load.ts'
import type { Answer, Inside, Order } from './own-process.ts'

/** Entry of a generator's process: takes one order, answers it, and is gone when its parent is. */
const runs: Record<Inside, () => Promise<(plan: LoadPlan) => Promise<LoadResult>>> = {
  autocannon: async () => (await import('./autocannon-run.ts')).runAutocannon,
  raw: async () => (await import('./raw-run.ts')).runRaw,
}

async function answer({ generator, plan }: Order): Promise<Answer> {
  try {
    const run = await runs[generator]()
    return { result: await run(plan) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

process.once('message', async (order: Order) => {
  const reply = await answer(order)
  process.send!(reply, () => process.disconnect())
})
// The answer has been given, or nobody is left to take it.
process.once('disconnect', () => process.exit())
