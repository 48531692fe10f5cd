import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { it } from 'vitest'
import { startKv } from './support/kv.ts'
import { expectOneOrder } from './support/recorder.ts'

it.each([
  { threads: 1, commit: 'group' },
  { threads: 4, commit: 'group' },
  { threads: 1, commit: 'single' },
  { threads: 4, commit: 'single' },
])('clients on a few keys see one order: %o', async (settings) => {
  const kv = await startKv(settings)
  await expectOneOrder([kv.url], scaleRuns(10))
  await kv.stop()
})
