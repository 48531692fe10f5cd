import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import type { RunningService } from '@influencer-stats/runtime/service-host'
import { kv } from '@influencer-stats/kv/service'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

/** Starts a key-value service for one test. */
export const startKv = (settings: Overrides = {}): Promise<RunningService> =>
  embed(kv, { data: createTemporaryFolder(), ...settings })
