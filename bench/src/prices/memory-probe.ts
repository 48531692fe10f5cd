import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Running } from '../contenders/contender.ts'
import { pinned, PINS } from '../processes.ts'

/** What a service holds once all garbage has been collected, on main and on its serving thread (bytes). */
export interface Held {
  readonly heap: number
  /** Typed arrays and buffers, those included that the threads share. */
  readonly buffers: number
  /** Frozen bitmaps, which lie outside of both. */
  readonly roaring: number
}

export type FromProbe = { readonly url: string } | { readonly held: Held }

const ENTRY = fileURLToPath(new URL('./memory-probe-process.ts', import.meta.url))

/** A prices service without prices whose memory can be told part by part, on one serving thread as `pnpm start` runs it. */
export async function startMemoryProbe(
  settings: Readonly<Record<string, string>>,
): Promise<Running & { held(): Promise<Held> }> {
  const data = mkdtempSync(join(tmpdir(), 'influencer-stats-bench-'))
  const all = JSON.stringify({ data, sample: 'no', threads: 1, ...settings })
  const [command, ...args] = pinned(PINS.server, [process.execPath, ENTRY, all])
  const child = spawn(command!, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const exit = once(child, 'exit')
  let complaints = ''
  child.stderr!.on('data', (text) => (complaints += text))

  async function stop(): Promise<void> {
    if (child.connected) child.disconnect()
    await exit
    rmSync(data, { recursive: true, force: true })
  }
  async function told<Kind extends FromProbe>(): Promise<Kind> {
    const [answer] = await Promise.race([once(child, 'message'), exit.then(() => [])])
    if (answer) return answer as Kind
    throw new Error(`the service ended: ${complaints.trim()}`)
  }

  try {
    const { url } = await told<{ url: string }>()
    const held = async () => {
      child.send('measure')
      return (await told<{ held: Held }>()).held
    }
    return { url, pid: child.pid!, stop, held }
  } catch (error) {
    await stop()
    throw error
  }
}
