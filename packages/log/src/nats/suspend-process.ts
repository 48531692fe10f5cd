import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Has a process stand still, and waits until all its threads do: on a busy machine they go on for a while (Linux alone tells). */
export async function suspendProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  if (process.platform === 'linux') while (!isSuspended(pid)) await delay(1)
}

const isSuspended = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).every((thread) => isThreadStopped(`${pid}/task/${thread}`))

/** Not where it has ended since it was listed: then there is another look. */
function isThreadStopped(task: string): boolean {
  try {
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1')
    // Behind its name, which may have brackets and spaces.
    return stat[stat.lastIndexOf(')') + 2] === 'T'
  } catch {
    return false
  }
}
