import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { LENIENT_TIMEOUTS } from '@influencer-stats/runtime/embed'
import { START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { onTestFinished } from 'vitest'

/** A service in a separate process, and the supervisor that started it. */
export interface SpawnedPrices {
  readonly url: Promise<string>
  /** The process id of the service. */
  readonly pid: Promise<number>
  /**
   * Stops it gracefully.
   * @returns its exit code
   */
  stop(): Promise<number | null>
  /** Kills both at any moment, the service first; resolves when they have exited. */
  crash(): Promise<void>
}

/** Starts the service as `pnpm start prices` does, with an empty catalog; it ends with the test. */
export function spawnPrices(folder: string, settings: Readonly<Record<string, string | number>> = {}): SpawnedPrices {
  const all = { port: 0, data: folder, sample: 'no', ...LENIENT_TIMEOUTS, ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => [`--prices.${name}`, String(value)])
  const args = [START_SCRIPT, 'prices', ...flags]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  const ready = new Promise<{ url: string; pid: number }>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (part) => {
      stdout += part
      const found = /^prices +(http:\S+) +(\d+) +\d+$/m.exec(stdout)
      if (found) resolve({ url: found[1]!, pid: Number(found[2]) })
    })
    child.once('close', () => reject(new Error(`it ended before it was ready: ${stdout}`)))
  })
  ready.catch(() => undefined)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    url: ready.then(({ url }) => url),
    pid: ready.then(({ pid }) => pid),
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
    async crash() {
      process.kill((await ready).pid, 'SIGKILL')
      child.kill('SIGKILL')
      await ended
    },
  }
}
