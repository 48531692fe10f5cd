import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { getSlowness } from '../../machine.ts'
import { trackChild, toPriorityCommand, toPinnedCommand } from '../../processes.ts'

/** Time after the end of the measurement in which replies may still arrive, on a quiet machine (s). */
export const GRACE_S = 3
/** The same on this machine as busy as it is now (s). */
export const getGraceSeconds = (): number => GRACE_S * getSlowness()
/** Maximum time in which a process starts, opens its connections and ends (s). */
const OVERHEAD_S = 15

/** The task of the process: a call of a module's function with a plan. */
export interface RunnerTask {
  readonly module: string
  readonly name: string
  readonly plan: unknown
}
/** The reply of the process. */
export type RunnerReply = { readonly result: unknown } | { readonly error: string }

/** Fields that any plan may have: the processors of the process, and the duration of its work (s). */
interface RunnerPlan {
  readonly pin?: readonly number[]
  /** As in `LoadPlan`. */
  readonly shares?: 'fair' | 'first'
  readonly duration?: number
  readonly warmUp?: number
}

/**
 * Returns a function that runs each plan in a new process, and kills the process if it takes too long.
 *
 * @param module URL of the module that exports the function under the function's name
 * @param extraSeconds maximum time in addition to `duration` and `warmUp` (s)
 * @throws Error (the returned function) if the process gave no result
 */
export const createProcessRunner =
  <Plan extends object, Result>(
    module: string,
    { name }: (plan: Plan) => Result | Promise<Result>,
    extraSeconds: number | ((plan: Plan) => number) = getGraceSeconds,
  ) =>
  async (plan: Plan & RunnerPlan): Promise<Result> => {
    const entry = fileURLToPath(new URL('./process-runner-entry.ts', import.meta.url))
    const own = [process.execPath, entry]
    const [command, ...args] = plan.shares === 'first' ? toPriorityCommand(own) : toPinnedCommand(plan.pin, own)
    // The new process does not inherit options of this one, such as those of a profiler, which would change the
    // measurement.
    const { NODE_OPTIONS: _, ...env } = process.env
    // A detached process has a new session, and Linux divides processor time equally between sessions.
    const detached = plan.shares !== undefined
    const child = trackChild(spawn(command!, args, { env, detached, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
    const { duration = 0, warmUp = 0 } = plan
    const seconds =
      duration +
      warmUp +
      OVERHEAD_S * getSlowness() +
      (typeof extraSeconds === 'number' ? extraSeconds : extraSeconds(plan))
    const deadline = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
    try {
      let reply: RunnerReply | undefined
      let stderrText = ''
      child.on('message', (message) => (reply = message as RunnerReply))
      child.stderr!.on('data', (text) => (stderrText += text))
      const closed = once(child, 'close')
      child.send({ module, name, plan } satisfies RunnerTask, () => {})
      const [code, signal] = await closed
      if (!reply) throw new Error(`${name} gave no result (${signal ?? `exit ${code}`}) ${stderrText}`.trim())
      if ('error' in reply) throw new Error(`${name}: ${reply.error}`)
      return reply.result as Result
    } finally {
      clearTimeout(deadline)
    }
  }
