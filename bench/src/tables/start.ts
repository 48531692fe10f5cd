import { setTimeout as delay } from 'node:timers/promises'
import { services } from '../../../services.ts'
import { createServerlessTarget, type TargetProcess } from '../targets/target.ts'
import { startAllServices } from '../targets/service.ts'
import { getProcessorSeconds, getProportionalMegabytes, getResidentMegabytes } from '../processes.ts'
import { formatHundredth, formatWhole } from '../report/format-numbers.ts'
import type { RowMetrics, BenchRow } from '../row.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import type { ServiceTable } from '../table.ts'

const SERVICE_NAMES = Object.keys(services)
/** Pause before memory is measured, in which the garbage of the start is collected (s). */
const REST_S = 10

const startServices = (folder: string, checkout?: string) => startAllServices(SERVICE_NAMES, folder, checkout)

const compiled = new Map<string | undefined, Promise<void>>()
/** Starts all services of a checkout once, because Node compiles TypeScript at the very first start. */
function compileOnce(checkout?: string): Promise<void> {
  let started = compiled.get(checkout)
  if (!started) compiled.set(checkout, (started = startOnce(checkout)))
  return started
}
async function startOnce(checkout?: string): Promise<void> {
  using folder = createTemporaryFolder()
  await (await startServices(folder.path, checkout)).stop()
}

/** Returns the duration and the processor time of the start, and the memory after a pause. */
async function readMetrics({
  pid,
  extraPids = [],
  below = [],
  readyAfterMs: readyIn,
}: TargetProcess): Promise<RowMetrics> {
  const all = [pid, ...extraPids, ...below]
  const cpu = getProcessorSeconds(...all)
  await delay(REST_S * 1000)
  const sum = (megabytes: (pid: number) => number) => all.reduce((total, one) => total + megabytes(one), 0)
  return {
    seconds: readyIn! / 1000,
    cpu,
    pss: sum(getProportionalMegabytes),
    rss: sum((one) => getResidentMegabytes(one)),
  }
}

const createStartRow = (name: string, isFirst: boolean): BenchRow => ({
  name,
  target: createServerlessTarget('all services'),
  async round(_running, { checkout }) {
    await compileOnce(checkout)
    using folder = createTemporaryFolder()
    if (!isFirst) await (await startServices(folder.path, checkout)).stop()
    const running = await startServices(folder.path, checkout)
    try {
      return await readMetrics(running)
    } finally {
      await running.stop()
    }
  },
})

export const tables: readonly ServiceTable[] = [
  {
    name: 'start',
    title: `\`pnpm start\` of all services with their default threads: time until all answer, and idle memory ${REST_S} s later`,
    when: 'named',
    columns: {
      seconds: {
        head: 'ready in s',
        format: formatHundredth,
        of: 'spread',
        plot: 'Until all services answer (s; less is better)',
      },
      cpu: { head: 'CPU s', format: formatHundredth, of: 'spread', ratio: true },
      pss: { head: 'PSS MB', format: formatWhole, of: 'spread', plot: 'Memory of all services, idle (PSS, MB)' },
      rss: { head: 'RSS MB', format: formatWhole },
    },
    steps: [['later', 'empty folders']],
    rows: () => [createStartRow('empty folders', true), createStartRow('later', false)],
  },
]
