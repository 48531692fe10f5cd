import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** Fate of a request: it passes, its reply is lost, or the proxy holds it, even after its sender has disconnected. */
export type ConnectionFailure = 'pass' | 'lose' | 'hold'

/** Proxy between a client and a service, on loopback. */
export interface BreakingProxy {
  readonly url: string
  /** Called with the head of each request. */
  failure: (head: string) => ConnectionFailure
  /** Number of held requests. */
  readonly held: number
  /** Forwards the held requests; resolves after the response to each. */
  release(): Promise<void>
  close(): Promise<void>
}

export async function startBreakingProxy(target: string): Promise<BreakingProxy> {
  const { hostname, port } = new URL(target)
  let held: (() => Promise<unknown>)[] = []
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((client) => {
    const service = connect(Number(port), hostname)
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    let isLost = false
    let isHeld = false
    client.on('data', (chunk) => {
      const failure = proxy.failure(chunk.toString('latin1'))
      isLost ||= failure === 'lose'
      isHeld ||= failure === 'hold'
      if (!isHeld) return void service.write(chunk)
      held.push(async () => {
        service.write(chunk)
        await once(service, 'data')
      })
    })
    service.on('data', (chunk) => (isLost ? client.destroy() : client.write(chunk)))
    service.on('close', () => client.destroy())
    // A held request is forwarded without its sender.
    client.on('close', () => isHeld || service.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const proxy: BreakingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failure: () => 'pass',
    get held() {
      return held.length
    },
    async release() {
      const going = held
      held = []
      for (const go of going) await go()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
