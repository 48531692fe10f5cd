import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createTestSse, type TestSse } from './test-sse.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

const ENTRY = fileURLToPath(new URL('./run-sse.ts', import.meta.url))

/** A broadcaster in a separate process, which can be killed. */
export interface SpawnedSse {
  readonly sse: TestSse
  /** Returns the resident memory of the process (bytes). */
  memory(): number
  /** Sends a signal, and waits until the process has exited. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

export async function spawnSse(settings: Readonly<Record<string, string | number>>): Promise<SpawnedSse> {
  const child = spawn(process.execPath, [ENTRY, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let url = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (url += text))
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  onTestFinished(() => end('SIGKILL'))
  await waitUntil(() => {
    if (hasExited(child)) throw new Error('the broadcaster did not start')
    return url.endsWith('\n')
  })
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1_024
  return { sse: createTestSse(url.trim(), async () => true), memory, end }
}
