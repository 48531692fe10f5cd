import { setTimeout as delay } from 'node:timers/promises'
import { getKernelMegabytes, getResidentMegabytes, startOwnMeter } from '../processes.ts'
import { createProcessRunner } from './common/process-runner.ts'
import { LoadTally } from './common/tally.ts'
import { FleetLedger } from './fleet/fleet-ledger.ts'
import { assertOpenFiles } from './fleet/open-files.ts'
import { PROGRESS_TIMEOUT_S, type ConnectingPlan, type FleetPlan } from './fleet/fleet-plan.ts'
import { watchProcessor } from './fleet/processor-watch.ts'
import { Publishers } from './fleet/publishers.ts'
import { FleetStreams } from './fleet/fleet-streams.ts'
import { OpenLoop } from './raw/loops.ts'

/** Interval between two checks of the progress (ms). */
const POLL_INTERVAL_MS = 2
/** Maximum time per stream to open all streams, on a busy machine (ms). */
const MAX_OPEN_MS = 5

/** Waits until `countMissing` returns 0, or the same number for `PROGRESS_TIMEOUT_S`. */
async function waitForProgress(countMissing: () => number): Promise<void> {
  let [last, progressAt] = [countMissing(), performance.now()]
  while (countMissing() > 0 && performance.now() < progressAt + PROGRESS_TIMEOUT_S * 1000) {
    await delay(POLL_INTERVAL_MS)
    if (countMissing() !== last) [last, progressAt] = [countMissing(), performance.now()]
  }
}

/** Opens all streams, and waits until each is open or refused. */
async function open(streams: FleetStreams, count: number): Promise<void> {
  await streams.open()
  await waitForProgress(() => count - streams.tried)
}

/** Requests the end of all streams from the server. @returns number of streams that did not end, or not cleanly */
async function closeAll(streams: FleetStreams, { url, dialect }: Pick<FleetPlan, 'url' | 'dialect'>): Promise<number> {
  streams.closing = true
  const toEnd = streams.steady
  const { path, method, headers = {} } = dialect.closeAll
  await fetch(url + path, { method, headers, signal: AbortSignal.timeout(PROGRESS_TIMEOUT_S * 1000) })
  await waitForProgress(() => toEnd - streams.ended)
  return toEnd - streams.ended
}

/** Returns the duration in which values are sent, and the duration of the warm-up before it (s). */
const getTimes = (sending: FleetPlan['sending']) =>
  'seconds' in sending ? sending : { seconds: (sending.values * sending.interval) / 1000, warmUp: 0 }

/**
 * Sends all values of the plan, and waits until they have arrived.
 * @returns deliveries per second, the processor share of this process, and the average time until the reply to a value
 *   (ms)
 */
async function send(
  { sending }: FleetPlan,
  { loop, connections }: Publishers,
  ledger: FleetLedger,
  streams: FleetStreams,
) {
  const { seconds, warmUp } = getTimes(sending)
  const received = async () => {
    await waitForProgress(() => loop.countOutstanding())
    await waitForProgress(() => ledger.accepted * streams.steady - ledger.deliveries)
  }
  const start = performance.now()
  const from = start + warmUp * 1000
  const tally = new LoadTally(from, from + seconds * 1000)
  ledger.startTiming(from)
  loop.start(connections, tally, start)
  await delay(from - performance.now())
  const [before, readMeter] = [ledger.deliveries, startOwnMeter()]
  await delay(tally.until - performance.now())
  if ('values' in sending) await received()
  const { seconds: took, cpu } = readMeter()
  const deliveries = (ledger.deliveries - before) / took
  await received()
  return { deliveries, cpu, query: tally.times.mean / 1000 }
}

/** Measures a plan in this process. @throws Error if the limit of open files is too low */
export async function measureFleet(plan: FleetPlan) {
  const { pid, sending, streams: count, publishers: publisherCount } = plan
  assertOpenFiles(count + publisherCount)
  const ledger = new FleetLedger(count, publisherCount)
  const streams = new FleetStreams(plan, ledger)
  const [idle, kernel] = [getResidentMegabytes(pid), getKernelMegabytes()]
  const publishers = new Publishers(plan, ledger)
  const { connections, loop } = publishers
  try {
    await Promise.all(connections.map(({ firstAttempt }) => firstAttempt))
    const began = performance.now()
    const connecting = await watchProcessor(pid, () => open(streams, count))
    const sockets = getKernelMegabytes() - kernel
    const sent = await watchProcessor(pid, () => send(plan, publishers, ledger, streams))
    const memory = getResidentMegabytes(pid)
    const unclosed = await closeAll(streams, plan)

    const values = 'values' in sending ? sending.values : ledger.values
    const { lost, doubled, delivery } = ledger
    // Quality of the generator. At a constant rate it uses a whole processor to be on time, so its lateness matters
    // (us, p99). Otherwise its share of a processor matters.
    const own: { readonly lateness?: number; readonly generator?: number } =
      loop instanceof OpenLoop ? { lateness: loop.lateness.getPercentile(99) } : { generator: sent.done.cpu }
    return {
      // Faults that invalidate the result: streams that did not open, ended early, or did not end when the server was
      // requested to end them.
      refused: count - streams.opened,
      cut: streams.cut,
      unclosed,
      /** Accepted values that a stream never received, or received twice. */
      lost,
      doubled,
      /**
       * Values received after a later value of the same publisher. If there are none, the number of streams that
       * received the values in another order than the majority.
       */
      outOfOrder: ledger.late || (lost + doubled === 0 ? ledger.differentOrders : 0),
      /** Events and replies that differ from the expected ones. */
      wrong: ledger.wrong + publishers.wrong,
      /** Values sent, values accepted, and values that were not accepted within a second of their due time. */
      values,
      accepted: ledger.accepted,
      rejected: values - publishers.inTime,
      /** Processor time of the server per delivery (us); largest share in a second, while connecting and sending. */
      cpu: (sent.seconds * 1e6) / ledger.deliveries,
      connecting: connecting.peak,
      sending: sent.peak,
      /** Deliveries per second to all streams while values were sent; average number of values per stream. */
      deliveries: sent.done.deliveries,
      received: ledger.deliveries / streams.opened,
      /** Time from the due time of a value until a stream received it (us), and on average until its reply (ms). */
      deliveryP50: delivery.getPercentile(50),
      deliveryP99: delivery.getPercentile(99),
      query: sent.done.query,
      connects: streams.opened / ((streams.lastOpened - began) / 1000),
      /** Resident memory of the server (MB) without streams and after all values; growth, also per stream (KB). */
      idle,
      memory,
      grown: memory - idle,
      perStream: ((memory - idle) * 1000) / count,
      /** Growth of kernel memory per stream, for the sockets of the server and of the fleet (KB). */
      kernel: (sockets * 1000) / count,
      ...own,
    }
  } finally {
    for (const connection of connections) connection.close()
    streams.destroy()
  }
}

/**
 * Opens streams, sends values to all of them and ends them, in a separate process. On one processor this process
 * receives 220,000 deliveries per second if each read of a socket has one value (4.5 us each, mainly for the read).
 * With eight values in a read it receives 1.6 million, and with 64 it receives 3.8 million (0.26 us each).
 *
 * @throws Error if it cannot run: if the limit of open files is too low, or if the server does not respond
 */
export const runFleet = createProcessRunner(import.meta.url, measureFleet, ({ streams, spacing, sending }) => {
  const { seconds, warmUp } = getTimes(sending)
  // Overloaded servers may make slow progress all the time, so the maximum duration has more than ten times the
  // timeout.
  return (streams * Math.max(spacing, MAX_OPEN_MS)) / 1000 + warmUp + seconds + 11 * PROGRESS_TIMEOUT_S
})

/** Results of a fleet: faults that invalidate them, and metrics. */
export type FleetResult = Awaited<ReturnType<typeof runFleet>>

/** Repeatedly opens all streams of a plan and ends them, until the duration of the plan is over. */
export async function measureConnecting(plan: ConnectingPlan) {
  assertOpenFiles(plan.streams)
  const end = performance.now() + plan.duration * 1000
  let [opened, refused] = [0, 0]
  while (performance.now() < end) {
    const streams = new FleetStreams(plan, new FleetLedger(plan.streams, 0))
    try {
      await open(streams, plan.streams)
      await closeAll(streams, plan)
    } finally {
      streams.destroy()
    }
    opened += streams.opened
    refused += plan.streams - streams.opened
  }
  return { opened, refused }
}

/** Runs `measureConnecting` in a separate process. @throws Error if it cannot run */
export const runConnecting = createProcessRunner(import.meta.url, measureConnecting, 4 * PROGRESS_TIMEOUT_S)
