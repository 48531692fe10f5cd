import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Running } from '../../src/contenders/contender.ts'
import { runFleet, type FleetResult } from '../../src/load/fleet.ts'
import { DIALECT, type FleetPlan } from '../../src/load/fleet/plan.ts'

/** Starts a broadcaster with known manners (see the process's). */
export async function startBroadcaster(manner: string): Promise<Running> {
  const child = fork(fileURLToPath(new URL('./broadcast-server-process.ts', import.meta.url)), [manner], {
    execArgv: [],
  })
  const ended = once(child, 'exit')
  const [port] = await once(child, 'message')
  async function stop(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop }
}

export const SMALL: Omit<FleetPlan, 'url' | 'pid'> = {
  dialect: DIALECT,
  streams: 20,
  spacing: 0,
  sending: { values: 100, interval: 5 },
  publishers: 4,
}

/** Runs a fleet on a broadcaster, in processes of their own. */
export async function runOn(manner: string, plan: Partial<FleetPlan> = {}): Promise<FleetResult> {
  const { url, pid, stop } = await startBroadcaster(manner)
  try {
    return await runFleet({ ...SMALL, url, pid, ...plan })
  } finally {
    await stop()
  }
}
