import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Runs a proxy until the test ends; waits until it listens. @throws Error with its output if it exits before */
export async function startProxy(
  [program, ...args]: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const proxy = spawn(program!, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let said = ''
  proxy.stderr.on('data', (text) => (said += text))
  onTestFinished(async () => {
    proxy.kill('SIGTERM')
    if (!hasExited(proxy)) await once(proxy, 'exit')
  })
  await waitUntil(() => {
    if (hasExited(proxy)) throw new Error(said)
    return listens(port)
  })
}
