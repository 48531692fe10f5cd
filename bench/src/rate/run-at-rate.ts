import type { TargetProcess } from '../targets/target.ts'
import { runRaw } from '../load/raw.ts'
import { describeMachine, formatMachine, MAX_QUIET_LOAD, watchSteal } from '../machine.ts'
import { PINS, setServerProcessors, getProcessorSeconds } from '../processes.ts'
import { withShare } from '../rounds/request-round.ts'
import type { RateOptions } from './rate-options.ts'
import { findLimit, EXTRA_PERCENTILES, buildRateReport } from './rate-report.ts'
import { createAuthorization, createRateWorkload } from './rate-workload.ts'

/** Maximum warm-up at the rate (s), in which V8 compiles the hot code of the service and of the generator. */
const MAX_WARM_UP_S = 3

/** Returns the processor seconds of a server: from its process or, with `--url`, from its metrics. NaN if unknown. */
async function getServerSeconds({ url, pid, extraPids = [] }: TargetProcess): Promise<number> {
  if (!Number.isNaN(pid)) return getProcessorSeconds(pid, ...extraPids)
  const text = await fetch(`${url}/metrics`, { headers: createAuthorization(), redirect: 'error' }).then(
    (reply) => reply.text(),
    () => '',
  )
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])
}

/**
 * Sends requests at a constant rate and reports their latencies from the intended start of each (open loop).
 *
 * @returns true if the rate was reached, all replies were right, and the generator was not the limit
 * @throws Error if the service does not start, or if the row has no requests
 */
export async function runAtRate(options: RateOptions, print: (line: string) => void): Promise<boolean> {
  const { rate, seconds, connections, spec, url } = options
  const { name, target, prepare, requests } = createRateWorkload(options)
  setServerProcessors(Number(spec.settings.threads ?? 1))
  const machine = describeMachine()
  const running = await target.start()
  try {
    await prepare?.(running)
    const times = { duration: seconds, warmUp: Math.min(MAX_WARM_UP_S, seconds), percentiles: EXTRA_PERCENTILES }
    const load = { url: running.url, ...requests, ...times, rate, ...(url === undefined && { pin: PINS.client }) }
    const steal = watchSteal()
    const result = await withShare(
      () => getServerSeconds(running),
      () => runRaw(load),
    )
    const plan = { name, rate, connections, seconds }
    for (const line of buildRateReport(plan, result)) print(line)
    print(`${formatMachine({ ...machine, steal: steal() })}.`)
    if (machine.load > MAX_QUIET_LOAD)
      print(`The machine was not quiet (load ${machine.load}): the numbers include the work of other programs.`)
    return result.errors + result.wrong === 0 && findLimit(plan, result) === 'none'
  } finally {
    await running.stop()
  }
}
