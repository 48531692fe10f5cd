import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

function listChildren(pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    return own.flatMap((child) => [child, ...listChildren(child)])
  } catch {
    return []
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it.runIf(process.platform === 'linux')('who is ended early ends all that was started, and says so', async () => {
  const bench = spawn(process.execPath, [CLI, 'sse', '--table', 'steady', '--rounds', '1'])
  const exit = once(bench, 'exit')
  let said = ''
  bench.stderr.on('data', (text) => (said += text))
  bench.stdout.resume()
  // A supervisor, a service and, once it serves, the fleet.
  const started = await waitUntil(() => {
    const all = listChildren(bench.pid!)
    return all.length >= 2 && said.includes('[1/') && all
  })
  bench.kill('SIGINT')
  expect(await exit).toEqual([1, null])
  expect(said).toContain('SIGINT')
  await waitUntil(() => !started.some(isAlive))
})
