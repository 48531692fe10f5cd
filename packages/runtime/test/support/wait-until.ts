import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const CHECK_INTERVAL_MS = { min: 5, max: 50 }
/** A check also costs the service that it calls, so a slow check runs less often. */
const CHECK_SHARE = 1 / 20

/** Waits until `condition` returns something truthy, and returns that. Fails after `timeout` ms. */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  timeout = 120_000,
): Promise<Exclude<T, false | 0 | '' | null | undefined>> {
  const start = Date.now()
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | 0 | '' | null | undefined>
    const waited = Date.now() - start
    if (waited > timeout) throw new Error(`not within ${timeout} ms: ${condition}`)
    await delay(Math.min(Math.max(CHECK_SHARE * waited, CHECK_INTERVAL_MS.min), CHECK_INTERVAL_MS.max))
  }
}

/** True if a process runs. A process that has ended does not count, even if its parent has not read its exit code. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
