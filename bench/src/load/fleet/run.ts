import { setTimeout as delay } from 'node:timers/promises'
import { kernelMegabytes, residentMegabytes } from '../../processes.ts'
import { Fleet } from './fleet.ts'
import { FleetLedger } from './ledger.ts'
import { mustHaveFiles, openFilesLimit } from './limits.ts'
import { Publishers } from './publishers.ts'
import { watchProcessor } from './processor-watch.ts'
import { PATIENCE, type FleetPlan, type FleetResult, type Saturating } from '../sse-fleet.ts'

/** Milliseconds between two looks at whether all has arrived. */
const POLL = 2

/** Waits until a number is reached, for as long as it still grows. */
async function reach(goal: () => number, current: () => number): Promise<void> {
  let last = current()
  let moved = performance.now()
  while (current() < goal() && performance.now() < moved + PATIENCE * 1000) {
    await delay(POLL)
    if (current() !== last) {
      last = current()
      moved = performance.now()
    }
  }
}

/** Deliveries a second in the window, and the share of a processor that this process took. */
interface Window {
  readonly deliveriesPerSecond: number
  readonly cpu: number
}

async function measured(ledger: FleetLedger, work: () => Promise<unknown>): Promise<Window> {
  const before = { deliveries: ledger.deliveries, at: performance.now(), cpu: process.cpuUsage() }
  await work()
  const seconds = (performance.now() - before.at) / 1000
  const { user, system } = process.cpuUsage(before.cpu)
  return {
    deliveriesPerSecond: (ledger.deliveries - before.deliveries) / seconds,
    cpu: (user + system) / 1e6 / seconds,
  }
}

async function saturate(publishers: Publishers, { seconds, warmUp }: Saturating): Promise<Window> {
  const { ledger } = publishers
  const from = performance.now() + warmUp * 1000
  ledger.timeFrom(from)
  publishers.saturate(from + seconds * 1000)
  await delay(warmUp * 1000)
  return measured(ledger, () => delay(seconds * 1000))
}

/** Runs a plan inside this process: open, send, close. */
export async function runFleetHere(plan: FleetPlan): Promise<FleetResult> {
  const { pid, sending, streams } = plan
  mustHaveFiles(streams, plan.publishers, openFilesLimit())
  const ledger = new FleetLedger(streams, plan.publishers)
  const fleet = new Fleet(plan, ledger)
  const idle = residentMegabytes(pid)
  const kernel = kernelMegabytes()
  const publishers = new Publishers(plan, ledger)
  try {
    await publishers.ready()
    const began = performance.now()
    const connecting = await watchProcessor(pid, async () => {
      await fleet.open()
      await reach(
        () => streams,
        () => fleet.tried,
      )
    })
    const sockets = kernelMegabytes() - kernel

    let window: Window | undefined
    const toReceive = () => ledger.accepted * fleet.steady
    const received = async () => {
      await reach(
        () => ledger.values,
        () => ledger.values - publishers.outstanding,
      )
      await reach(toReceive, () => ledger.deliveries)
    }
    const sendingWatched = await watchProcessor(pid, async () => {
      if ('seconds' in sending) {
        window = await saturate(publishers, sending)
        await received()
      } else {
        window = await measured(ledger, async () => {
          await publishers.paced(sending)
          await received()
        })
      }
    })
    const sent = residentMegabytes(pid)

    fleet.closing = true
    const open = fleet.steady
    const signal = AbortSignal.timeout(PATIENCE * 1000)
    await fetch(plan.url + plan.dialect.closeAll, { method: plan.dialect.closeMethod ?? plan.dialect.method, signal })
    await reach(
      () => open,
      () => fleet.ended,
    )

    const { replies, lateness } = publishers
    const values = 'seconds' in sending ? ledger.values : sending.values
    const { lost, doubled, delivery } = ledger
    return {
      refused: streams - fleet.opened,
      cut: fleet.cut,
      unclosed: open - fleet.ended,
      lost,
      doubled,
      outOfOrder: ledger.late || (lost + doubled === 0 ? ledger.strayed : 0),
      wrong: ledger.wrong + replies.wrong,
      values,
      rejected: values - replies.inTime,
      cpu: (sendingWatched.seconds * 1e6) / ledger.deliveries,
      connecting: connecting.peak,
      sending: sendingWatched.peak,
      deliveries: window!.deliveriesPerSecond,
      received: ledger.deliveries / fleet.opened,
      deliveryP50: delivery.at(50),
      deliveryP99: delivery.at(99),
      query: replies.sum / replies.timed,
      connects: fleet.opened / ((fleet.lastOpened - began) / 1000),
      idle,
      memory: sent,
      grown: sent - idle,
      perStream: ((sent - idle) * 1000) / streams,
      kernel: (sockets * 1000) / streams,
      ...('values' in sending ? { lateness: lateness.at(99) } : { generator: window!.cpu }),
    }
  } finally {
    publishers.close()
    fleet.destroy()
  }
}
