import type { RunnerReply, RunnerTask } from './process-runner.ts'

// A separate process that runs one task and sends the result. It also exits if its parent exits.

async function runTask({ module, name, plan }: RunnerTask): Promise<RunnerReply> {
  try {
    const exported = (await import(module)) as Record<string, (plan: unknown) => unknown>
    return { result: await exported[name]!(plan) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

process.once('message', async (task: RunnerTask) => {
  const reply = await runTask(task)
  process.send!(reply, () => process.disconnect())
})
// The channel to the parent closes after the result was sent, or when the parent exits.
process.once('disconnect', () => process.exit())
