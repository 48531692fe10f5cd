import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../random.ts'
import type { NetworkFault, FaultProxy } from './proxy.ts'

/** Interval of writes at a limited bandwidth (ms). */
const PIECE_MS = 50
/** A byte with this bit is not ASCII. */
const NON_ASCII_BIT = 0x80

/** Creates a proxy without dependencies. @param corrupts direction of the traffic that `corrupt` affects */
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

  /**
   * Forwards bytes in one direction, under the current fault. Only `half-open`, `down`, `corrupt` and
   * `slow-close` may affect requests.
   */
  async function forward(from: Socket, to: Socket, direction: 'requests' | 'replies'): Promise<void> {
    let forwardedBytes = 0
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const activeFault =
          direction === 'replies' || fault?.kind === 'half-open' || fault?.kind === 'down' ? fault : undefined
        if (activeFault?.kind === 'latency') await delay(activeFault.ms + random.below(activeFault.jitter + 1))
        if (activeFault?.kind === 'half-open' && (activeFault.direction ?? direction) === direction) continue
        if (activeFault?.kind === 'down') return end(from, to, true)
        if (activeFault?.kind === 'cut' && forwardedBytes + chunk.length > activeFault.afterBytes) {
          to.write(chunk.subarray(0, Math.max(0, activeFault.afterBytes - forwardedBytes)))
          return end(from, to, activeFault.resets)
        }
        if (fault?.kind === 'corrupt' && direction === corrupts) corrupt(chunk, fault.oneIn)
        if (activeFault?.kind === 'bandwidth') await writeSlowly(to, chunk, activeFault.bytesPerSecond)
        else if (!to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')])
        forwardedBytes += chunk.length
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
    for (let i = random.below(oneIn); i < chunk.length; i += 1 + random.below(oneIn * 2)) chunk[i]! |= NON_ASCII_BIT
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
      // When the fault is removed, all connections are closed: some of them may have lost bytes.
      if (!next) for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
