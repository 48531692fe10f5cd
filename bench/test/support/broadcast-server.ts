import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DIALECT, runFleet, type FleetPlan, type FleetResult } from '../../src/load/sse-fleet.ts'

/** Runs a fleet on a broadcaster with known manners (see the process's), in processes of their own. */
export async function runOn(manner: string, plan: Partial<FleetPlan> = {}): Promise<FleetResult> {
  const child = fork(fileURLToPath(new URL('./broadcast-server-process.ts', import.meta.url)), [manner], {
    execArgv: [],
  })
  const ended = once(child, 'exit')
  try {
    const [port] = await once(child, 'message')
    const url = `http://127.0.0.1:${port}`
    const small = { streams: 20, spacing: 0, sending: { values: 100, interval: 5 }, publishers: 4 }
    return await runFleet({ url, pid: child.pid!, dialect: DIALECT, ...small, ...plan })
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}
