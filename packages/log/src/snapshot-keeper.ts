import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Logger } from './logger.ts'

export interface SnapshotKeeperOptions {
  readonly log: Pick<Log, 'state' | 'snapshot' | 'newestSnapshot' | 'trim'>
  /** A snapshot is due so many places after the last one. */
  readonly every: number
  /** Or so many bytes after it: they may be large. */
  readonly everyBytes?: number | undefined
  readonly logger: Logger
  /** How long a node waits at most before it takes one that is due (ms): another may be about to, or it failed. */
  readonly patience?: number
}

export interface SnapshotKeeper {
  /** The own view has come so far. @param bytes of all that it was given in this life */
  advanced(applied: number, bytes?: number): void
  /** Resolves once nothing is under way. Idempotent. */
  close(): Promise<void>
}

const PATIENCE = 30_000

/**
 * Takes a snapshot now and then, and has the log thrown away that lies behind the one before it: so the log is bounded,
 * and a node that is behind by less than one snapshot needs none. Any node may; one does mostly, and two do no harm.
 */
export function keepSnapshots({
  log,
  every,
  everyBytes = Infinity,
  logger,
  patience = PATIENCE,
}: SnapshotKeeperOptions): SnapshotKeeper {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  /** Before that place none is due. */
  let due = 0
  /** Or these. */
  let dueBytes = everyBytes
  let given = 0
  /** The newest one that is known here. */
  let last: number | undefined

  async function run(): Promise<void> {
    await delay(Math.random() * patience, undefined, { signal })
    const before = (await log.newestSnapshot()) ?? 0
    // Another node has taken one: what came before it need not be counted.
    const isNews = last !== undefined && before > last
    last = before
    if (isNews) dueBytes = given + everyBytes
    if (log.state.applied - before >= every || given >= dueBytes) {
      const seq = await log.snapshot()
      last = seq
      dueBytes = given + everyBytes
      // What came meanwhile is in it, or comes after it.
      if (before > 0) await log.trim(before)
      logger.info(`snapshot at ${seq}; the log begins at ${Math.max(before, 1)}`)
      due = seq + every
    } else due = before + every
  }

  return {
    advanced(applied, bytes = 0) {
      given = bytes
      if ((applied < due && given < dueBytes) || running || signal.aborted) return
      running = run()
        .catch((error: unknown) => {
          if (!signal.aborted) logger.warn({ err: error }, 'no snapshot could be taken')
        })
        .finally(() => (running = undefined))
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
