import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const CHECK_EVERY = 5

/** Waits until `condition` gives something truthy, and returns that. Fails after `timeout` ms. */
export async function until<T>(
  condition: () => T | Promise<T>,
  timeout = 60_000,
): Promise<Exclude<T, false | 0 | '' | null | undefined>> {
  const deadline = Date.now() + timeout
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | 0 | '' | null | undefined>
    if (Date.now() > deadline) throw new Error(`not within ${timeout} ms: ${condition}`)
    await delay(CHECK_EVERY)
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
