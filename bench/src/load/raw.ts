import type { LoadGenerator } from './load.ts'
import { limitOf, runInOwnProcess } from './common/own-process.ts'

const RUN = new URL('./raw/run.ts', import.meta.url).href

/**
 * Our own generator: ready-made bytes on `node:net`, every reply's status and body checked, and the only one with an
 * open loop and with pipelines. It takes 5.5-7.5 us of processor a request (wrk 5.9-8.3), also where
 * each reply has an id of its own; 8.3 where replies differ in more; and 170,000 requests a second at most.
 */
export function createRaw(): LoadGenerator {
  return {
    name: 'raw',
    loops: ['closed', 'open'],
    available: async () => true,
    run: (plan) => runInOwnProcess(RUN, 'runRaw', plan, limitOf(plan)),
  }
}
