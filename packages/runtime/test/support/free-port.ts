import { once } from 'node:events'
import { createServer } from 'node:net'

// The system assigns ports above 32767 to other servers and connections, and NATS servers of tests use those above 20000.
// Each worker of the tests has its own range, because a port is free again until its program has started.
const PORT_COUNT = 1_000
const MIN_PORT = 10_000 + PORT_COUNT * (Number(process.env.VITEST_POOL_ID ?? 0) % 10)

let last = Math.floor(Math.random() * PORT_COUNT)

/** Finds a port that is currently free, for a program that cannot report its port or has to restart on the same one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    last = (last + 1) % PORT_COUNT
    const server = createServer().listen(MIN_PORT + last, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    return port
  }
}
