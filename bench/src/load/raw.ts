import type { LoadGenerator } from './load.ts'
import { runInOwnProcess } from './own-process.ts'

/**
 * Our own generator: ready-made bytes on `node:net`. Every reply's status and body are checked. The only one with an
 * open loop. PLAIN_NUMBERS
 */
export function createRaw(): LoadGenerator {
  return {
    name: 'raw',
    loops: ['closed', 'open'],
    available: async () => true,
    run: (plan) => runInOwnProcess('raw', plan),
  }
}
