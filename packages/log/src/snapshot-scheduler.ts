import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Logger } from './logger.ts'

export interface SnapshotSchedulerOptions {
  readonly log: Pick<Log, 'state' | 'snapshot' | 'getLatestSnapshot' | 'trim'>
  /** Number of sequences after the last snapshot at which the next is due. */
  readonly intervalSequences: number
  /**
   * Size of the entries after the last snapshot at which the next is due (bytes), because entries may be large; by
   * default unlimited.
   */
  readonly intervalBytes?: number | undefined
  readonly logger: Logger
  /**
   * Maximum of the random delay before a due snapshot (ms). Meanwhile another node may take one, or a fault may end.
   */
  readonly maxDelay?: number
}

export interface SnapshotScheduler {
  /** Called when this node has applied more entries. @param bytes size of all entries that this process has applied */
  onAdvance(applied: number, bytes?: number): void
  /** Resolves once no snapshot is in progress. Idempotent. */
  close(): Promise<void>
}

const MAX_DELAY_MS = 30_000

/**
 * Takes snapshots at intervals, and trims the log up to the previous snapshot. This bounds the log, and a node that
 * lags by less than one interval needs no snapshot. Any node may take a snapshot: usually one node does, and two do no
 * harm.
 */
export function createSnapshotScheduler({
  log,
  intervalSequences,
  intervalBytes = Infinity,
  logger,
  maxDelay = MAX_DELAY_MS,
}: SnapshotSchedulerOptions): SnapshotScheduler {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  // A snapshot may be due at this sequence, or at this size of the applied entries.
  let dueSequence = 0
  let dueBytes = intervalBytes
  let appliedBytes = 0
  /** Sequence of the newest known snapshot. */
  let latest: number | undefined

  async function run(): Promise<void> {
    await delay(Math.random() * maxDelay, undefined, { signal })
    const previous = (await log.getLatestSnapshot()) ?? 0
    // If another node has taken a snapshot, the count of bytes starts again here.
    const isNewer = latest !== undefined && previous > latest
    latest = previous
    if (isNewer) dueBytes = appliedBytes + intervalBytes
    if (log.state.applied - previous >= intervalSequences || appliedBytes >= dueBytes) {
      const seq = await log.snapshot()
      latest = seq
      dueBytes = appliedBytes + intervalBytes
      // The snapshot has all entries up to `seq`, and the log still has those from `previous` on. So no entry is lost.
      if (previous > 0) await log.trim(previous)
      logger.info(`stored the snapshot at sequence ${seq}; the log begins at ${Math.max(previous, 1)}`)
      dueSequence = seq + intervalSequences
    } else dueSequence = previous + intervalSequences
  }

  return {
    onAdvance(applied, bytes = 0) {
      appliedBytes = bytes
      if ((applied < dueSequence && appliedBytes < dueBytes) || running || signal.aborted) return
      running = run()
        .catch((error: unknown) => {
          if (!signal.aborted) logger.warn({ err: error }, 'the snapshot failed')
        })
        .finally(() => (running = undefined))
    },
    async close() {
      closing.abort()
      await running
    },
  }
}
