import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PINS, spawnPinned } from '../processes.ts'
import type { Contender } from './contender.ts'

/** A server that is a file of this folder, or a program: it writes the port that it listens on. */
export function scriptContender(
  name: string,
  file: string | { readonly command: string; readonly env: Readonly<Record<string, string>> },
  ...args: string[]
): Contender {
  const [command, env, entry] =
    typeof file === 'string'
      ? [process.execPath, {}, [fileURLToPath(new URL(file, import.meta.url))]]
      : [file.command, file.env, []]
  return {
    name,
    async start() {
      const child = spawnPinned(PINS.server, command, [...entry, ...args], env)
      const exit = once(child, 'exit')
      let complaints = ''
      child.stderr!.on('data', (text) => (complaints += text))
      const started = await Promise.race([once(child.stdout!, 'data'), exit.then(() => undefined)])
      if (!started) throw new Error(`${name} did not start: ${complaints.trim()}`)
      async function stop(): Promise<void> {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
        await exit
      }
      return { url: `http://127.0.0.1:${Number(started[0])}`, pid: child.pid!, stop }
    },
  }
}
