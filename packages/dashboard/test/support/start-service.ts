import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { onTestFinished } from 'vitest'

/** Starts a service in this process with a separate folder. It runs until the test ends. */
export async function start(definition: Parameters<typeof embed>[0], settings: Record<string, string | number>) {
  const running = await embed(definition, { data: createTemporaryFolder(), ...settings })
  onTestFinished(async () => void (await running.stop()))
  return running
}
