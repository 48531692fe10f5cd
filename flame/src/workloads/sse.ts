import type { Running } from '@influencer-stats/bench/contenders/contender'
import { DIALECT, runConnecting, runFleet } from '@influencer-stats/bench/load/sse-fleet'
import { fleetFaultOf } from '@influencer-stats/bench/measure-fleets'
import { PINS } from '@influencer-stats/bench/processes'
import { MARGIN, WARM_UP, workDuring } from '../load.ts'
import type { Workload } from '../workloads.ts'

const STREAMS = 1_000
const PUBLISHERS = 8

const plan = ({ url, pid }: Running) => ({
  url,
  pid,
  dialect: DIALECT,
  streams: STREAMS,
  spacing: 0,
  publishers: PUBLISHERS,
  pin: PINS.client,
})

/** Streams are opened as fast as they can be, all are closed, and so on. */
export const connecting: Workload = {
  says: 'while 1,000 streams are opened and closed again and again',
  async during(running, seconds, work) {
    const opening = runConnecting({ ...plan(running), seconds: WARM_UP + seconds + MARGIN })
    const [done, { opened, refused }] = await workDuring(opening, work)
    if (opened === 0 || refused > 0) throw new Error(`${opened} streams were opened and ${refused} refused`)
    return done
  },
}

/** Each publisher sends when it has its reply. */
export const fanOut: Workload = {
  says: 'with 1,000 streams and 8 publishers that send as soon as they have their reply',
  async during(running, seconds, work) {
    const sending = { warmUp: WARM_UP, seconds: seconds + MARGIN }
    const [done, result] = await workDuring(runFleet({ ...plan(running), sending }), work)
    const fault = fleetFaultOf(result)
    if (fault) throw new Error(fault)
    return done
  },
}
