import { once } from 'node:events'
import { createServer } from 'node:net'

// The system assigns ports above 32767 to other servers and connections, and NATS servers of tests use those above 20000.
// Each worker of the tests has its own range, because a port is free again until its program has started.
const PORT_COUNT = 1_000
const MIN_PORT = 10_000 + PORT_COUNT * (Number(process.env.VITEST_POOL_ID ?? 0) % 10)

/** The ports that this process has found lately, whose programs may not have started yet. */
const found = new Set<number>()

/** Finds a port that is currently free, for a program that cannot report its port or has to restart on the same one. */
export async function findFreePort(): Promise<number> {
  if (found.size > PORT_COUNT / 2) found.clear()
  for (;;) {
    const port = MIN_PORT + Math.floor(Math.random() * PORT_COUNT)
    if (found.has(port)) continue
    found.add(port)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
