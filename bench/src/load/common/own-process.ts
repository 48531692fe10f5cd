import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pinned } from '../../processes.ts'
import type { LoadPlan } from '../load.ts'

/** Seconds after the measured ones in which replies may still come. */
export const GRACE = 3
/** Seconds that a process may take to start, to open its connections and to end. */
export const OVERHEAD = 15

/** What runs in a process of its own: the generators that are written in JavaScript, and what is timed without a server. */
export type Inside =
  | 'autocannon'
  | 'idle'
  | 'raw'
  | 'price-bulk'
  | 'price-import'
  | 'price-lookups'
  | 'price-round-trips'
  | 'scan'
  | 'sse-connecting'
  | 'sse-fleet'
/** What the process is told, once. */
export interface Order {
  readonly generator: Inside
  readonly plan: unknown
}
/** What it answers, once. */
export type Answer = { readonly result: unknown } | { readonly error: string }

/** How long (ms) a run may take at most before it is ended by force. */
export function limitOf({ warmUp, duration }: LoadPlan): number {
  return (warmUp + duration + GRACE + OVERHEAD) * 1000
}

/**
 * Runs a plan in a process of its own.
 *
 * @param limit milliseconds until it is ended by force
 * @throws Error when it gave no result
 */
export async function runInOwnProcess<Result>(
  generator: Inside,
  plan: { readonly pin?: readonly number[] },
  limit: number,
): Promise<Result> {
  const entry = fileURLToPath(new URL('./generator-process.ts', import.meta.url))
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
    child.send({ generator, plan } satisfies Order, () => {})
    const [code, signal] = await closed
    if (!answer) throw new Error(`${generator} gave no result (${signal ?? `exit ${code}`}) ${complaints}`.trim())
    if ('error' in answer) throw new Error(`${generator}: ${answer.error}`)
    return answer.result as Result
  } finally {
    clearTimeout(deadline)
  }
}
