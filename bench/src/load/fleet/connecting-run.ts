import { setTimeout as delay } from 'node:timers/promises'
import { Fleet } from './fleet.ts'
import { FleetLedger } from './ledger.ts'
import { mustHaveFiles, openFilesLimit } from './limits.ts'
import { PATIENCE, type ConnectingPlan, type ConnectingResult } from '../sse-fleet.ts'

const POLL = 2

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE * 1000
  while (!condition() && performance.now() < end) await delay(POLL)
}

/** Opens all streams of a plan, has the server end them, and so on until its time is up, inside this process. */
export async function runConnectingHere(plan: ConnectingPlan): Promise<ConnectingResult> {
  mustHaveFiles(plan.streams, 0, openFilesLimit())
  const { closeAll, method } = plan.dialect
  const end = performance.now() + plan.seconds * 1000
  let opened = 0
  let refused = 0
  while (performance.now() < end) {
    const fleet = new Fleet(plan, new FleetLedger(plan.streams, 0))
    try {
      await fleet.open()
      await until(() => fleet.tried === plan.streams)
      fleet.closing = true
      await fetch(plan.url + closeAll, { method, signal: AbortSignal.timeout(PATIENCE * 1000) })
      await until(() => fleet.ended === fleet.opened)
    } finally {
      fleet.destroy()
    }
    opened += fleet.opened
    refused += plan.streams - fleet.opened
  }
  return { opened, refused }
}
