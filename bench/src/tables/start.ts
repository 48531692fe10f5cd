import { setTimeout as delay } from 'node:timers/promises'
import { services } from '../../../services.ts'
import { noServer, type Running } from '../contenders/contender.ts'
import { startAll } from '../contenders/service.ts'
import { processorSeconds, proportionalMegabytes, residentMegabytes } from '../processes.ts'
import { hundredth, whole } from '../report/numbers.ts'
import type { Figures, Row } from '../row.ts'
import { temporaryFolder } from '../temporary.ts'
import type { OwnTable } from './table.ts'

const NAMES = Object.keys(services)
/** Until what starting left has been collected (s). */
const REST = 10

const start = (folder: string) => startAll(NAMES, folder)

let compiled: Promise<void> | undefined
/** At the very first start Node compiles TypeScript. */
async function startOnce(): Promise<void> {
  using folder = temporaryFolder()
  await (await start(folder.path)).stop()
}

/** What starting took until all answered, and what they hold after a rest. */
async function figuresOf({ pid, beside = [], below = [], readyIn }: Running): Promise<Figures> {
  const all = [pid, ...beside, ...below]
  const cpu = processorSeconds(...all)
  await delay(REST * 1000)
  const sum = (megabytes: (pid: number) => number) => all.reduce((total, one) => total + megabytes(one), 0)
  return { seconds: readyIn! / 1000, cpu, pss: sum(proportionalMegabytes), rss: sum((one) => residentMegabytes(one)) }
}

const starting = (name: string, isFirst: boolean): Row => ({
  name,
  contender: noServer('all services'),
  async round() {
    await (compiled ??= startOnce())
    using folder = temporaryFolder()
    if (!isFirst) await (await start(folder.path)).stop()
    const running = await start(folder.path)
    try {
      return await figuresOf(running)
    } finally {
      await running.stop()
    }
  },
})

export const tables: readonly OwnTable[] = [
  {
    name: 'start',
    title: `\`pnpm start\` of all services, threads as they choose: until all answer, and what they hold when idle, ${REST} s later`,
    when: 'named',
    columns: {
      seconds: {
        head: 'ready in s',
        format: hundredth,
        of: 'spread',
        plot: 'Until all services answer (s; less is better)',
      },
      cpu: { head: 'CPU s', format: hundredth, of: 'spread', ratio: true },
      pss: { head: 'PSS MB', format: whole, of: 'spread', plot: 'Memory of all services, idle (PSS, MB)' },
      rss: { head: 'RSS MB', format: whole },
    },
    steps: [['later', 'empty folders']],
    rows: () => [starting('empty folders', true), starting('later', false)],
  },
]
