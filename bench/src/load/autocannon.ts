import type { LoadGenerator } from './load.ts'
import { limitOf, runInOwnProcess } from './common/own-process.ts'

const RUN = new URL('./autocannon/run.ts', import.meta.url).href

/**
 * The usual one. Closed loop only. Every reply's status and body are checked. Its own report counts whole milliseconds;
 * ours is taken off its clients, in microseconds. It is the limit at half of what `raw` can send.
 */
export function createAutocannon(): LoadGenerator {
  return {
    name: 'autocannon',
    loops: ['closed'],
    available: async () => true,
    run: (plan) => runInOwnProcess(RUN, 'runAutocannon', plan, limitOf(plan)),
  }
}
