import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PINS, spawnPinned } from '../processes.ts'
import type { Contender } from './contender.ts'

const SERVER = fileURLToPath(new URL('./bare-server.ts', import.meta.url))

/** What a constant reply is made of. */
export interface ConstantReply {
  readonly status: number
  /** Besides `date`, `connection` and `keep-alive`, which Node adds. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A bare `node:http` server with one reply for everything: what Node can do. */
export function bareContender(reply: ConstantReply, name = 'bare node:http'): Contender {
  return {
    name,
    async start() {
      const child = spawnPinned(PINS.server, process.execPath, [SERVER, JSON.stringify(reply)])
      const exit = once(child, 'exit')
      const [text] = await once(child.stdout!, 'data')
      async function stop(): Promise<void> {
        child.kill('SIGTERM')
        await exit
      }
      return { url: `http://127.0.0.1:${Number(text)}`, pid: child.pid!, stop }
    },
  }
}
