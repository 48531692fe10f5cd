import type { Answer, Order } from './own-process.ts'

// A process of its own: takes one order, answers it, and is gone when its parent is.

async function answer({ module, name, plan }: Order): Promise<Answer> {
  try {
    const exported = (await import(module)) as Record<string, (plan: unknown) => unknown>
    return { result: await exported[name]!(plan) }
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
