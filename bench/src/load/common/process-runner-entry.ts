import type { RunnerReply, RunnerTask } from './process-runner.ts'

// A process of its own: takes one order, answers it, and is gone when its parent is.

async function runTask({ module, name, plan }: RunnerTask): Promise<RunnerReply> {
  try {
    const exported = (await import(module)) as Record<string, (plan: unknown) => unknown>
    return { result: await exported[name]!(plan) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

process.once('message', async (order: RunnerTask) => {
  const reply = await runTask(order)
  process.send!(reply, () => process.disconnect())
})
// The answer has been given, or nobody is left to take it.
process.once('disconnect', () => process.exit())
