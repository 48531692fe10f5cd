import { scriptContender } from '../contenders/script.ts'
import { createRaw } from '../load/raw.ts'
import { runRight } from '../load/common/run-right.ts'
import { PINS, processorSeconds } from '../processes.ts'
import type { Figures } from '../trial-row.ts'
import type { TrialsAsked, TrialScenario } from './scenario.ts'

const MEGA = 1e6
const CONNECTIONS = 20
/** Of memory before each reply; an offering's rows take the map 3.5, all of them 175. */
const MEGABYTES = [0, 1, 4, 16]
const raw = createRaw()

async function figuresOf(megabytes: number, { duration, warmUp }: TrialsAsked): Promise<Figures> {
  const running = await scriptContender(`reading ${megabytes} MB`, './reading-server.ts', String(megabytes)).start()
  try {
    const requests = [{ method: 'GET', path: '/' }]
    const plan = { url: running.url, requests, expect: { status: 200, body: '0' }, connections: CONNECTIONS, warmUp: 0 }
    const readSoFar = async () => Number(await (await fetch(`${running.url}/read`)).text())
    await raw.run({ ...plan, duration: warmUp, pin: PINS.client })
    const before = { cpu: processorSeconds(running.pid), read: await readSoFar() }
    const result = await runRight({ ...plan, duration, pin: PINS.client })
    const cpu = ((processorSeconds(running.pid) - before.cpu) * MEGA) / result.requests
    const reading = (((await readSoFar()) - before.read) * MEGA) / result.requests
    return { cpu, reading, rest: cpu - reading, perSecond: result.perSecond }
  } finally {
    await running.stop()
  }
}

export const cachesTable: TrialScenario = {
  service: 'prices',
  name: 'caches',
  title:
    'What HTTP costs beside work that reads memory: a bare node:http server that reads so much before each reply, 20 connections',
  full: true,
  columns: { cpu: 'CPU us/request', reading: 'of it reading', rest: 'HTTP', perSecond: 'requests/s' },
  trials: (asked) =>
    MEGABYTES.map((megabytes) => ({
      name: `${megabytes} MB`,
      contender: 'bare node:http',
      run: () => figuresOf(megabytes, asked),
    })),
}
