import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../random.ts'
import type { NetworkFault, FaultProxy } from './proxy.ts'

const PIECE_MS = 50
const ASCII_END = 0x80

/** A small proxy without dependencies. @param corrupts the direction of traffic to corrupt */
export async function createNodeProxy(
  target: string,
  random: SeededRandom,
  corrupts: 'requests' | 'replies' = 'replies',
): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  let fault: NetworkFault | undefined
  const sockets = new Set<Socket>()

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (fault?.kind === 'down') return void client.resetAndDestroy()
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    void forward(client, upstream, 'requests')
    void forward(upstream, client, 'replies')
  })

  /** Forwards bytes from one side to the other, under the current fault. */
  async function forward(from: Socket, to: Socket, what: 'requests' | 'replies'): Promise<void> {
    let carried = 0
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const now = what === 'replies' || fault?.kind === 'half-open' || fault?.kind === 'down' ? fault : undefined
        if (now?.kind === 'latency') await delay(now.ms + random.below(now.jitter + 1))
        if (now?.kind === 'half-open' && (now.of ?? what) === what) continue
        if (now?.kind === 'down') return end(from, to, true)
        if (now?.kind === 'cut' && carried + chunk.length > now.afterBytes) {
          to.write(chunk.subarray(0, Math.max(0, now.afterBytes - carried)))
          return end(from, to, now.resets)
        }
        if (fault?.kind === 'corrupt' && what === corrupts) corrupt(chunk, fault.oneIn)
        if (now?.kind === 'bandwidth') await writeSlowly(to, chunk, now.bytesPerSecond)
        else if (!to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')])
        carried += chunk.length
      }
      if (fault?.kind === 'slow-close') await delay(fault.ms)
      to.end()
    } catch {
      to.destroy()
    }
  }

  function end(from: Socket, to: Socket, resets: boolean): void {
    if (resets) to.resetAndDestroy()
    else to.destroySoon()
    from.destroy()
  }

  function corrupt(chunk: Buffer, oneIn: number): void {
    for (let i = random.below(oneIn); i < chunk.length; i += 1 + random.below(oneIn * 2)) chunk[i]! |= ASCII_END
  }

  async function writeSlowly(to: Socket, chunk: Buffer, bytesPerSecond: number): Promise<void> {
    const piece = Math.max(1, Math.floor((bytesPerSecond * PIECE_MS) / 1_000))
    for (let at = 0; at < chunk.length && !to.destroyed; at += piece) {
      to.write(chunk.subarray(at, at + piece))
      await delay(PIECE_MS)
    }
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${address.port}`,
    kinds: ['latency', 'cut', 'slow-close', 'half-open', 'bandwidth', 'corrupt', 'down'],
    async set(next) {
      fault = next
      // A connection that has lost bytes is unusable.
      if (!next) for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
