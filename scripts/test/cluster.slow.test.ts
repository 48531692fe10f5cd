import { findNatsServer } from '@influencer-stats/log/find-nats-server'
import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../cluster.ts', import.meta.url))

/** The process that started a process. */
const parentOf = (pid: number) => Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

test.skipIf(process.platform !== 'linux')('pnpm cluster restarts killed processes, and reports this', async () => {
  const env = { ...process.env, NATS_SERVER: await findNatsServer() }
  const cluster = spawn(process.execPath, [SCRIPT, '--data', createTemporaryFolder()], { env })
  let [output, errors] = ['', '']
  cluster.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  cluster.stderr.setEncoding('utf8').on('data', (text) => (errors += text))
  const ended = once(cluster, 'close')
  onTestFinished(async () => {
    cluster.kill('SIGTERM')
    await ended
  })
  await waitUntil(() => {
    if (hasExited(cluster)) throw new Error(errors)
    return /in a browser/.test(output)
  })
  const find = (name: string) => {
    const [, url, pid] = new RegExp(`^${name} +(\\S+) +(\\d+)$`, 'm').exec(output)!
    return { url: url!, pid: Number(pid) }
  }
  const kv = find('kv node-3')
  process.kill(find('server-2').pid, 'SIGKILL')
  process.kill(parentOf(kv.pid), 'SIGKILL')
  for (const name of ['server-2', 'node-3']) await waitUntil(() => errors.includes(`cluster: ${name} runs again`))
  await waitUntil(async () => {
    const reply = await fetch(`${kv.url}/v0/entity?id=a`, { method: 'PUT', body: 'b' }).catch(() => undefined)
    return reply?.ok
  })
  cluster.kill('SIGTERM')
  expect((await ended)[0]).toBe(0)
})
