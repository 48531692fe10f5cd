import { standInContender } from '@influencer-stats/bench/contenders/service'
import { PINS } from '@influencer-stats/bench/processes'
import { readRow } from '@influencer-stats/bench/scenarios/stats'
import { underLoad } from '../load.ts'
import type { Workload } from '../workloads.ts'

// Who asks and what is asked do not depend on where the variant's own upstream is.
const row = readRow({ service: 'stats', variant: '', settings: {} }, { youtubeUri: '' })

/** The row of the benchmark, prepared and proved as there. */
export const read: Workload = {
  says: 'under 16 connections',
  async beside() {
    const standIn = await standInContender(PINS.client).start()
    return { settings: { youtubeUri: standIn.url }, stop: standIn.stop }
  },
  prepare: (running) => row.prepare(running),
  during: ({ url }, seconds, work) => underLoad(url, row.load, seconds, work),
}
