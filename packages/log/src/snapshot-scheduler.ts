import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Logger } from './logger.ts'

export interface SnapshotSchedulerOptions {
  readonly log: Pick<Log, 'state' | 'snapshot' | 'getLatestSnapshot' | 'trim'>
  /** A snapshot is due so many places after the last one. */
  readonly intervalEntries: number
  /** Or so many bytes after it: they may be large. */
  readonly intervalBytes?: number | undefined
  readonly logger: Logger
  /** How long a node waits at most before it takes one that is due (ms): another may be about to, or it failed. */
  readonly maxDelay?: number
}

export interface SnapshotScheduler {
  /** The own view has come so far. @param bytes of all that it was given in this life */
  onAdvance(applied: number, bytes?: number): void
  /** Resolves once nothing is under way. Idempotent. */
  close(): Promise<void>
}

const MAX_DELAY_MS = 30_000

/**
 * Takes a snapshot now and then, and has the log thrown away that lies behind the one before it: so the log is bounded,
 * and a node that is behind by less than one snapshot needs none. Any node may; one does mostly, and two do no harm.
 */
export function createSnapshotScheduler({
  log,
  intervalEntries,
  intervalBytes = Infinity,
  logger,
  maxDelay = MAX_DELAY_MS,
}: SnapshotSchedulerOptions): SnapshotScheduler {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  /** Before that place none is due. */
  let dueSequence = 0
  /** Or these. */
  let dueBytes = intervalBytes
  let appliedBytes = 0
  /** The newest one that is known here. */
  let latest: number | undefined

  async function run(): Promise<void> {
    await delay(Math.random() * maxDelay, undefined, { signal })
    const previous = (await log.getLatestSnapshot()) ?? 0
    // Another node has taken one: what came before it need not be counted.
    const isNewer = latest !== undefined && previous > latest
    latest = previous
    if (isNewer) dueBytes = appliedBytes + intervalBytes
    if (log.state.applied - previous >= intervalEntries || appliedBytes >= dueBytes) {
      const seq = await log.snapshot()
      latest = seq
      dueBytes = appliedBytes + intervalBytes
      // What came meanwhile is in it, or comes after it.
      if (previous > 0) await log.trim(previous)
      logger.info(`snapshot at ${seq}; the log begins at ${Math.max(previous, 1)}`)
      dueSequence = seq + intervalEntries
    } else dueSequence = previous + intervalEntries
  }

  return {
    onAdvance(applied, bytes = 0) {
      appliedBytes = bytes
      if ((applied < dueSequence && appliedBytes < dueBytes) || running || signal.aborted) return
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
