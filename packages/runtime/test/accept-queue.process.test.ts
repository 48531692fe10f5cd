import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { spawnService } from './support/service-process.ts'
import { waitUntil } from './support/wait-until.ts'

const MAX_BACKLOG = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
/** More than 511, the default backlog of Node. */
const BURST_SIZE = Math.min(2_000, MAX_BACKLOG)

test('connections that arrive while the process is suspended are accepted and served later', async () => {
  const { url, pid } = await spawnService('youtube', {})
  process.kill(pid, 'SIGSTOP')
  const { hostname, port } = new URL(url)
  let connected = 0
  const burst = Array.from({ length: BURST_SIZE }, () => {
    const socket = connect(Number(port), hostname, () => connected++)
    onTestFinished(() => void socket.destroy())
    return socket
  })
  await waitUntil(() => connected === BURST_SIZE, 20_000)
  const last = burst.at(-1)!
  const reply = once(last, 'data')
  last.write(`GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  process.kill(pid, 'SIGCONT')
  expect(String(await reply)).toMatch(/^HTTP\/1\.1 200 /)
})
