import type { Running } from '../contenders/contender.ts'
import { runRaw } from '../load/raw.ts'
import { describeMachine, machineText, QUIET, watchSteal } from '../machine.ts'
import { PINS, pinServer, processorSeconds } from '../processes.ts'
import { withShare } from '../rounds/requests.ts'
import type { RateOptions } from './options.ts'
import { limitOf, MORE_PERCENTILES, rateReport } from './report.ts'
import { authorization, rateWorkload } from './workload.ts'

/** Seconds at the rate before the measured ones: V8 compiles the hot code of the service and of the generator. */
const MAX_WARM_UP = 3

/** Processor seconds that a server has used: from its process, or, at `--url`, from its metrics. NaN if unknown. */
async function serverSeconds({ url, pid, beside = [] }: Running): Promise<number> {
  if (!Number.isNaN(pid)) return processorSeconds(pid, ...beside)
  const text = await fetch(`${url}/metrics`, { headers: authorization(), redirect: 'error' }).then(
    (reply) => reply.text(),
    () => '',
  )
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

/**
 * Sends requests at a constant rate and reports their latencies from the intended start of each (open loop).
 *
 * @returns whether the rate was reached, all replies were right, and the generator was not the limit
 * @throws Error if the service does not start, or there is nothing to send
 */
export async function runAtRate(options: RateOptions, say: (line: string) => void): Promise<boolean> {
  const { rate, seconds, connections, spec, url } = options
  const { name, contender, prepare, requests } = rateWorkload(options)
  pinServer(Number(spec.settings.threads ?? 1))
  const machine = describeMachine()
  const running = await contender.start()
  try {
    await prepare?.(running)
    const times = { duration: seconds, warmUp: Math.min(MAX_WARM_UP, seconds), percentiles: MORE_PERCENTILES }
    const load = { url: running.url, ...requests, ...times, rate, ...(url === undefined && { pin: PINS.client }) }
    const steal = watchSteal()
    const result = await withShare(
      () => serverSeconds(running),
      () => runRaw(load),
    )
    const plan = { name, rate, connections, seconds }
    for (const line of rateReport(plan, result)) say(line)
    say(`${machineText({ ...machine, steal: steal() })}.`)
    if (machine.load > QUIET)
      say(`The machine was not quiet (load ${machine.load}): the figures include the work of others.`)
    return result.errors + result.wrong === 0 && limitOf(plan, result) === 'none'
  } finally {
    await running.stop()
  }
}
