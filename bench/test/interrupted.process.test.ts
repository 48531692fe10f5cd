import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { isAlive, waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
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

const LOADS = {
  streams: ['sse', '--table', 'steady', '--rounds', '1'],
  'a filled base': ['kv', '--table', 'entity', '--rounds', '1'],
  'a comparison': ['compare', 'stats/read: v8 / bare node:http'],
}

it.runIf(process.platform === 'linux').each(Object.entries(LOADS))(
  'an interrupted run ends all that it started, leaves no file and says so: %s',
  async (_name, args) => {
    const folder = createTemporaryFolder()
    const bench = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, TMPDIR: folder } })
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
    expect(readdirSync(folder)).toEqual([])
  },
)
