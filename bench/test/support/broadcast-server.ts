import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TargetProcess } from '../../src/targets/target.ts'
import { runFleet, type FleetResult } from '../../src/load/fleet.ts'
import { DEFAULT_DIALECT, type FleetPlan } from '../../src/load/fleet/fleet-plan.ts'

/** Starts a broadcast server with a behavior (see its process). */
export async function startBroadcaster(behavior: string): Promise<TargetProcess & AsyncDisposable> {
  const child = fork(fileURLToPath(new URL('./broadcast-server-process.ts', import.meta.url)), [behavior], {
    execArgv: [],
  })
  const ended = once(child, 'exit')
  const [port] = await once(child, 'message')
  async function stop(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid!, stop, [Symbol.asyncDispose]: stop }
}

export const SMALL_FLEET: Omit<FleetPlan, 'url' | 'pid'> = {
  dialect: DEFAULT_DIALECT,
  streams: 20,
  spacing: 0,
  sending: { values: 100, interval: 5 },
  publishers: 4,
}

/** Runs a fleet on a broadcast server, in separate processes. */
export async function runOn(behavior: string, plan: Partial<FleetPlan> = {}): Promise<FleetResult> {
  await using server = await startBroadcaster(behavior)
  const { url, pid } = server
  return await runFleet({ ...SMALL_FLEET, url, pid, ...plan })
}
