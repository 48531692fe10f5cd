import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const CHECK_INTERVAL_MS = { min: 5, max: 50 }
/** A look costs whoever is asked, too: what has taken a while is looked at less often. */
const CHECK_SHARE = 1 / 20

/** Waits until `condition` gives something truthy, and returns that. Fails after `timeout` ms. */
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

/** Whether a process runs. One that has ended counts as gone, even if nobody has asked for its exit code yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
