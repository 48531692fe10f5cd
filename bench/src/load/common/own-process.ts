import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endsWithUs, first, pinned } from '../../processes.ts'

/** Seconds after the measured ones in which replies may still come. */
export const GRACE = 3
/** Seconds that a process may take to start, to open its connections and to end. */
const OVERHEAD = 15

/** What the process is told, once: to call a module's function with a plan. */
export interface Order {
  readonly module: string
  readonly name: string
  readonly plan: unknown
}
/** What it answers, once. */
export type Answer = { readonly result: unknown } | { readonly error: string }

/** What any plan may say: the processors to keep to, where the platform can pin, whose they are, and the seconds that the work takes. */
interface Common {
  readonly pin?: readonly number[]
  readonly shares?: 'fair' | 'first'
  readonly duration?: number
  readonly warmUp?: number
}

/**
 * Has a function run each plan in a process of its own, ended by force where it takes too long.
 *
 * @param module the URL of the one that exports the function by its name
 * @param more seconds beside those of the plan; @throws (of what is returned) Error when it gave no result
 */
export const inOwnProcess =
  <Plan extends object, Result>(
    module: string,
    { name }: (plan: Plan) => Result | Promise<Result>,
    more: number | ((plan: Plan) => number) = GRACE,
  ) =>
  async (plan: Plan & Common): Promise<Result> => {
    const entry = fileURLToPath(new URL('./entry-process.ts', import.meta.url))
    const own = [process.execPath, entry]
    const [command, ...args] = plan.shares === 'first' ? first(own) : pinned(plan.pin, own)
    // Options meant for this process, a profiler's say, would change what is measured.
    const { NODE_OPTIONS: _, ...env } = process.env
    // Linux gives processors to sessions in equal parts.
    const detached = plan.shares !== undefined
    const child = endsWithUs(spawn(command!, args, { env, detached, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
    const { duration = 0, warmUp = 0 } = plan
    const seconds = duration + warmUp + OVERHEAD + (typeof more === 'number' ? more : more(plan))
    const deadline = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
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
