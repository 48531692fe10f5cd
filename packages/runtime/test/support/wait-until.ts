import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { toPatientTimeout } from './patience.ts'

/** A test may replace the clocks. */
const now = performance.now.bind(performance)
/** The configuration of the tests sets it for each tier (ms). */
const WAIT_TIMEOUT_MS = Number(process.env.TEST_WAIT_MS ?? 120_000)

const CHECK_INTERVAL_MS = { min: 5, max: 50 }
/** A check also costs the service that it calls, so a slow check runs less often. */
const CHECK_SHARE = 1 / 20

/** Waits until `condition` returns something truthy, and returns that. Fails after `timeout` ms, or later on a busy machine. */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  timeout = toPatientTimeout(WAIT_TIMEOUT_MS),
): Promise<Exclude<T, false | 0 | '' | null | undefined>> {
  const start = now()
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | 0 | '' | null | undefined>
    const waited = now() - start
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
