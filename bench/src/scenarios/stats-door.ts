import { bareContender, floorContender } from '../contenders/bare.ts'
import type { Contender } from '../contenders/contender.ts'
import { nginxAvailable, nginxContender } from '../contenders/nginx.ts'
import { standInContender } from '../contenders/service.ts'
import { runIdle, type IdleResult } from '../load/idle.ts'
import { runRight } from '../load/common/run-right.ts'
import { PINS } from '../processes.ts'
import { tenth, whole } from '../report/numbers.ts'
import type { Row } from '../row.ts'
import { median, spread } from '../statistics.ts'
import type { Figures, TrialRow } from '../trial-row.ts'
import { BROWSER, CONNECTIONS, NODE_HTTP, RAW } from './doors.ts'
import type { Scenario, Backends, TrialsAsked, TrialScenario } from './scenario.ts'
import { CONSTANT, proveSample, readRow, readSample, SAMPLE_PATH, statsSpec } from './stats.ts'

const PIPELINE = 16
const IDLE = 5000

/** The former default and those on Fastify, beside what they are measured for. */
const VARIANTS = [...new Set([RAW.stats, NODE_HTTP.stats, 'v6', 'v4'])]

const read = readSample(CONNECTIONS)
const browser: Row['load'] = { ...read, requests: [{ method: 'GET', path: SAMPLE_PATH, headers: BROWSER }] }

/** A server that gives the same reply to everything, and is asked what the service is. */
const constant = (contender: Contender, load = read, name = contender.name): Row => {
  return { name, contender, prepare: proveSample, load }
}

const NGINX = nginxAvailable()
  ? [nginxContender(CONSTANT.body), nginxContender(CONSTANT.body, { keepsOpen: true })]
  : []

export const doorTable: Scenario = {
  service: 'stats',
  name: 'door',
  title: `Reads of one collection of three videos by the door that answers them, ${CONNECTIONS} connections, one serving thread; browser: with the ${Object.keys(BROWSER).length} headers that a browser sends`,
  full: true,
  generator: 'raw',
  steps: [
    ...[NODE_HTTP.stats, 'v4', 'bare node:http', 'nginx static file', 'nginx with open_file_cache', 'bare node:net']
      .filter((against) => against !== RAW.stats)
      .map((against) => [RAW.stats, against] as const),
    [`${RAW.stats}, browser`, 'bare node:http, browser'],
    [`${RAW.stats}, pipeline of ${PIPELINE}`, RAW.stats],
  ],
  rows: async (backends) => {
    const raw = readRow(statsSpec(RAW.stats), backends)
    return [
      ...VARIANTS.map((variant) => readRow(statsSpec(variant), backends)),
      ...[bareContender(CONSTANT), ...NGINX, floorContender(CONSTANT)].map((contender) => constant(contender)),
      { ...raw, name: `${RAW.stats}, browser`, load: browser },
      constant(bareContender(CONSTANT), browser, 'bare node:http, browser'),
      { ...raw, name: `${RAW.stats}, pipeline of ${PIPELINE}`, load: { ...read, pipeline: PIPELINE } },
    ]
  },
}

/** On a server that has served for a while, so that what it learnt and left is no connection's. */
async function idleOnce({ contender, prepare, load }: Row, { duration }: TrialsAsked) {
  const running = await contender.start()
  try {
    await prepare(running)
    const { url, pid } = running
    await runRight({ url, ...load, duration, warmUp: 0, pin: PINS.client })
    const { expect } = load
    const result = await runIdle({ url, path: SAMPLE_PATH, expect, connections: IDLE, pid, pin: PINS.client })
    const { wrong, cut } = result
    if (wrong + cut > 0) throw new Error(`${wrong} wrong replies, ${cut} connections that were not kept`)
    return result
  } finally {
    await running.stop()
  }
}

const idleRow = (rowOf: (backends: Backends) => Row, asked: TrialsAsked): TrialRow => {
  const { name, contender } = rowOf({ youtubeUri: '' })
  return {
    name,
    contender: contender.name,
    async run(say): Promise<Figures> {
      const standIn = await standInContender(PINS.client).start()
      const results: IdleResult[] = []
      try {
        for (let round = 1; round <= asked.rounds; round++) {
          say(`round ${round} of ${asked.rounds}`)
          results.push(await idleOnce(rowOf({ youtubeUri: standIn.url }), asked))
        }
      } finally {
        await standIn.stop()
      }
      const each = spread(results.map(({ before, after }) => ((after - before) * 1e3) / IDLE))
      return {
        each: each.median,
        range: `${tenth(each.min)}-${tenth(each.max)}`,
        before: median(results.map(({ before }) => before)),
        after: median(results.map(({ after }) => after)),
      }
    },
  }
}

export const connectionsTable: TrialScenario = {
  service: 'stats',
  name: 'connections',
  title: `What an idle connection costs: ${whole(IDLE)} that had one reply each and are kept, one serving thread`,
  full: true,
  columns: { each: 'KB a connection', range: 'least-most', before: 'RSS MB without', after: 'RSS MB with them' },
  trials: (asked) => [
    ...[...new Set([RAW.stats, NODE_HTTP.stats])].map((variant) =>
      idleRow((backends) => readRow(statsSpec(variant), backends), asked),
    ),
    idleRow(() => constant(bareContender(CONSTANT)), asked),
  ],
}
