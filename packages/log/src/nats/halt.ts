import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Has a process stand still, and waits until all its threads do: on a busy machine they go on for a while (Linux alone tells). */
export async function halt(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  if (process.platform === 'linux') while (!standsStill(pid)) await delay(1)
}

function standsStill(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    // Its name, which may hold anything, is in brackets.
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
  })
}
