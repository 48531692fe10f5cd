import { createMemoryGroup } from '@influencer-stats/runtime/testing/memory-group'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { isAlive } from '@influencer-stats/runtime/testing/wait-until'
import { Agent, request } from 'node:http'
import { afterAll, expect, it } from 'vitest'

const GIB = 1_073_741_824
const CONNECTIONS = 1_024
const ROUNDS = 10
const VALUE_BYTES = 50_000

const group = createMemoryGroup(`kv-${process.pid}`, GIB)
afterAll(() => group?.remove())
if (!group) process.stderr.write('skipped without the permission to create control groups\n')

it.skipIf(!group)('64 threads in 1 GiB stay alive with 1,024 connections', async () => {
  const args = ['kv', '--port', '0', '--data', createTemporaryFolder(), '--threads', '64']
  const started = spawnStart(args, {}, { script: START_SCRIPT, launcher: group!.launcher })
  const { pid, port, threads } = (await started.waitUntilReady()).kv!
  expect(threads).toBe(6)
  expect(started.stderr + started.stdout).toContain('6 threads instead of 64')
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const value = Buffer.alloc(VALUE_BYTES, 'x')
  const send = (method: string, index: number) =>
    new Promise<number>((resolve, reject) => {
      request({ port, method, path: `/v0/entity?id=${index}`, agent }, (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode!))
      })
        .on('error', reject)
        .end(method === 'PUT' ? value : undefined)
    })
  const statuses: Record<number, number> = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const method of ['PUT', 'GET']) {
      const all = await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => send(method, index)))
      for (const status of all) statuses[status] = (statuses[status] ?? 0) + 1
    }
  agent.destroy()
  process.stdout.write(`${Math.round(group!.readPeakBytes() / 1_048_576)} MB, ${JSON.stringify(statuses)}\n`)
  // An overloaded service refuses requests.
  expect(Object.keys(statuses).filter((status) => !['200', '201', '204', '404', '503'].includes(status))).toEqual([])
  expect(statuses[200]).toBeGreaterThan(CONNECTIONS)
  expect([isAlive(pid), group!.countKills()]).toEqual([true, 0])
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(/^threads_respawned_total\S* (\d+)/m.exec(metrics)?.[1] ?? '0').toBe('0')
  expect(await started.stop()).toEqual({ code: 0, signal: null })
})
