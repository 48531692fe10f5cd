import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pinned } from '../../processes.ts'
import type { LoadPlan } from '../load.ts'

/** Seconds after the measured ones in which replies may still come. */
export const GRACE = 3
/** Seconds that a process may take to start, to open its connections and to end. */
export const OVERHEAD = 15

/** What the process is told, once: to call a module's function with a plan. */
export interface Order {
  readonly module: string
  readonly name: string
  readonly plan: unknown
}
/** What it answers, once. */
export type Answer = { readonly result: unknown } | { readonly error: string }

/** How long (ms) a run may take at most before it is ended by force. */
export function limitOf({ warmUp, duration }: Pick<LoadPlan, 'warmUp' | 'duration'>): number {
  return (warmUp + duration + GRACE + OVERHEAD) * 1000
}

/**
 * Has a module's function run a plan in a process of its own.
 *
 * @param module its URL; @param name what it exports the function as
 * @param limit milliseconds until it is ended by force
 * @throws Error when it gave no result
 */
export async function runInOwnProcess<Result>(
  module: string,
  name: string,
  plan: { readonly pin?: readonly number[] },
  limit: number,
): Promise<Result> {
  const entry = fileURLToPath(new URL('./entry-process.ts', import.meta.url))
  const [command, ...args] = pinned(plan.pin, [process.execPath, entry])
  // Options meant for this process, a profiler's say, would change what is measured.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(command!, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const deadline = setTimeout(() => child.kill('SIGKILL'), limit)
  try {
    let answer: Answer | undefined
    let complaints = ''
    child.on('message', (message) => (answer = message as Answer))
    child.stderr!.on('data', (text) => (complaints += text))
    const closed = once(child, 'close')
    child.send({ module, name, plan } satisfies Order, () => {})
    const [code, signal] = await closed
    if (!answer) throw new Error(`${name} gave no result (${signal ?? `exit ${code}`}) ${complaints}`.trim())
    if ('error' in answer) throw new Error(`${name}: ${answer.error}`)
    return answer.result as Result
  } finally {
    clearTimeout(deadline)
  }
}
