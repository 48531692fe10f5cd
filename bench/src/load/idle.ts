import { runInOwnProcess } from './common/own-process.ts'
import type { LoadPlan } from './load.ts'

/** Connections that are opened, have one reply each, and are kept. */
export interface IdlePlan extends Pick<LoadPlan, 'url' | 'expect' | 'connections' | 'pin'> {
  readonly path: string
  /** The server's process, whose memory is told. */
  readonly pid: number
}

export interface IdleResult {
  /** Resident memory of the server without the connections, and with all of them (MB). */
  readonly before: number
  readonly after: number
  /** Replies that were not as expected. */
  readonly wrong: number
  /** Connections that were refused, or cut before the end. */
  readonly cut: number
}

/** Opening thousands takes a second or two. */
const LIMIT = 60_000

/** Opens connections in a process of its own. @throws Error when it could not run: too few open files */
export const runIdle = (plan: IdlePlan): Promise<IdleResult> => runInOwnProcess('idle', plan, LIMIT)
