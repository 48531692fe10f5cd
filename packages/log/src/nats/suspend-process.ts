import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Suspends a process. On Linux, it waits until all threads are stopped, because on a busy machine they continue for a
 * while.
 */
export async function suspendProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  if (process.platform === 'linux') while (!isSuspended(pid)) await delay(1)
}

const isSuspended = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).every((thread) => isThreadStopped(`${pid}/task/${thread}`))

/** True if a thread is stopped. False if it has ended since the listing: the caller then lists the threads again. */
function isThreadStopped(task: string): boolean {
  try {
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1')
    // The state follows the name in parentheses, which may itself contain parentheses and spaces.
    return stat[stat.lastIndexOf(')') + 2] === 'T'
  } catch {
    return false
  }
}
