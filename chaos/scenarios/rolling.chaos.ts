import { startNatsServer } from '@influencer-stats/log/nats-server'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hasNginx, startNginx } from '../../deploy/test/support/nginx.ts'
import { isLong } from '../src/plan.ts'
import { run } from '../src/service-process.ts'

// Three nodes of kv behind nginx restart one after the other, without an effect on clients.

const REQUESTS = isLong ? 1_000_000 : 100_000
const NODES = 3
/** Longest time without an answer while a node restarts and the others serve (ms). */
const MAX_PAUSE_MS = 600
const CLIENTS = 32
const HOST = 'kv.example.com'

it.skipIf(!hasNginx)(`none of ${REQUESTS} requests fails while nodes of kv are restarted behind nginx`, async () => {
  const folder = createTemporaryFolder()
  const nats = await startNatsServer({ folder: join(folder, 'nats') })
  onTestFinished(() => nats.stop('SIGKILL'))
  const start = (index: number, port: number) => {
    const log = { cluster: nats.url, natsReplicas: 1, natsStream: 'kv' }
    return run('kv', join(folder, `node-${index}`), { settings: { port, allowedHosts: HOST, ...log } })
  }
  const nodes = await Promise.all(Array.from({ length: NODES }, (_, i) => start(i, 0)))
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  const ports = nodes.map(({ url }) => Number(new URL(url).port))
  const port = await startNginx('nginx-kv.conf', { kv: ports })
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  onTestFinished(() => agent.destroy())

  function send(method: string, id: string, body?: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const headers = { host: HOST, ...(body !== undefined && { 'content-type': 'text/plain' }) }
    const sent = request(
      { host: '127.0.0.1', port, method, path: `/v0/entity?id=${id}`, headers, agent },
      async (reply) => {
        const pieces = await reply.setEncoding('utf8').toArray()
        resolve(`${reply.statusCode} ${pieces.join('')}`)
      },
    )
    sent.on('error', (error) => resolve(error.message)).end(body)
    return promise
  }

  expect(await send('PUT', 'a', 'hello')).toBe('201 ')
  // A node may be behind. After a linearizable read it has the entry.
  for (const { url } of nodes) expect((await fetch(`${url}/v0/entity?id=a&linearizable=true`)).status).toBe(200)
  const failed: string[] = []
  let done = 0
  let answeredAt = performance.now()
  /** Longest time without any answer (ms). */
  let pause = 0
  async function runClient(_: unknown, number: number): Promise<void> {
    while (done < REQUESTS) {
      const isChange = ++done % 20 === 0
      const answer = isChange ? await send('PUT', `c${number}`, String(done)) : await send('GET', 'a')
      const now = performance.now()
      pause = Math.max(pause, now - answeredAt)
      answeredAt = now
      if (answer !== (isChange ? '201 ' : '200 hello')) failed.push(answer.slice(0, 200))
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, runClient))
  let restarts = 0
  for (; done < REQUESTS; restarts++) {
    const index = restarts % NODES
    expect(await nodes[index]!.stop()).toBe(0)
    nodes[index] = await start(index, ports[index]!)
  }
  await clients
  process.stdout.write(`${done} requests, ${restarts} restarts, nobody answered for ${pause.toFixed()} ms at most\n`)
  expect(failed).toEqual([])
  expect(restarts).toBeGreaterThanOrEqual(NODES)
  if (isLong) expect(pause).toBeLessThan(MAX_PAUSE_MS)
})
