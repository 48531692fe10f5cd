import type { RunnerReply, RunnerTask } from './process-runner.ts'

// A separate process: runs one task, sends the result, and exits when its parent exits.

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
// The result has been sent, or the parent has exited.
process.once('disconnect', () => process.exit())
