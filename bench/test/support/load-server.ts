import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  /** Number of requests, by path. */
  counts(): Promise<Record<string, number>>
  /** Ends it without any manners. */
  kill(): Promise<void>
}

/** Starts a server with known behavior (see the process's routes) in a separate process. */
export async function startScriptedServer(...args: string[]): Promise<ScriptedServer> {
  const child = fork(fileURLToPath(new URL('./load-server-process.ts', import.meta.url)), args, { execArgv: [] })
  const ended = once(child, 'exit')
  const [port] = await once(child, 'message')
  const url = `http://127.0.0.1:${port}`
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    counts: async () => (await fetch(`${url}/counts`)).json() as Promise<Record<string, number>>,
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

/** The URL of a port without a listener. */
export async function getDeadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
