import type { RegisterOperation } from '@influencer-stats/kv/testing/linearizable'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

// Porcupine is an independent checker of linearizability. The Go program in chaos/porcupine calls it.

const FOLDER = fileURLToPath(new URL('../../porcupine', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../../../node_modules/.cache/porcupine/checker', import.meta.url))

/** True if a Go is installed that can build the program. An older one does not read its `go.mod`. */
export const hasGo = spawnSync('go', ['list', '-m'], { cwd: FOLDER, stdio: 'ignore' }).status === 0

/**
 * Checks histories of registers with Porcupine. `Ok`: some order of the operations explains the history. `Illegal`: no
 * order does. `Unknown`: the search timed out.
 */
export async function checkWithPorcupine(
  histories: readonly (readonly RegisterOperation[])[],
): Promise<('Ok' | 'Illegal' | 'Unknown')[]> {
  mkdirSync(dirname(PROGRAM), { recursive: true })
  const { status, stderr } = spawnSync('go', ['build', '-o', PROGRAM, '.'], { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(`go could not build chaos/porcupine: ${stderr}`)
  const child = spawn(PROGRAM, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  child.stdin.end(histories.map((history) => `${JSON.stringify(history)}\n`).join(''))
  const output = await text(child.stdout)
  const [code] = await ended
  const verdicts = output.split('\n').slice(0, -1)
  if (code !== 0 || verdicts.length !== histories.length) throw new Error(`porcupine ended with ${code}`)
  return verdicts as Awaited<ReturnType<typeof checkWithPorcupine>>
}
