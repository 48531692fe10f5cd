import type { Answer, Inside, Order } from './own-process.ts'

/** Entry of a generator's process: takes one order, answers it, and is gone when its parent is. */
const runs: Record<Inside, () => Promise<(plan: any) => Promise<unknown>>> = {
  autocannon: async () => (await import('../autocannon/run.ts')).runAutocannon,
  idle: async () => (await import('../idle/run.ts')).runIdleHere,
  raw: async () => (await import('../raw/run.ts')).runRaw,
  'price-bulk': async () => (await import('../../prices/bulk-run.ts')).runBulkHere,
  'price-import': async () => (await import('../../prices/import-run.ts')).runImportHere,
  'price-lookups': async () => (await import('../../prices/lookups-run.ts')).runLookupsHere,
  'price-round-trips': async () => (await import('../../prices/round-trips-run.ts')).runRoundTripsHere,
  scan: async () => (await import('../scan/run.ts')).runScanHere,
  'sse-connecting': async () => (await import('../fleet/connecting-run.ts')).runConnectingHere,
  'sse-fleet': async () => (await import('../fleet/run.ts')).runFleetHere,
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
