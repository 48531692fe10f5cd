import type { SnapshotSource } from '@influencer-stats/runtime/backup-source'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { setTimeout as delay } from 'node:timers/promises'
import { createUnavailableError } from './errors.ts'
import { toAncestor } from './jetstream/stream/stream.ts'
import type { LogPosition, StateMachine } from './log.ts'

/**
 * Time for which a snapshot is taken again (ms) if it has a part of the entries after its position: it began within a
 * batch. Without its log, a node whose process ended within a batch remains there.
 */
const PARTIAL_TIMEOUT_MS = 5_000
const RETRY_INTERVAL_MS = 50

/**
 * Creates the source of the backups of a cluster node: snapshots of its state machine. It does not need the log, so it
 * also works while the log is unavailable or lost.
 */
export const createBackupSource = (service: string, stateMachine: Pick<StateMachine, 'snapshot'>): SnapshotSource => ({
  service,
  async openSnapshot() {
    for (const deadline = performance.now() + PARTIAL_TIMEOUT_MS; ; await delay(RETRY_INTERVAL_MS)) {
      let position: LogPosition | undefined
      const chunks = stateMachine.snapshot((found) => (position = found))[Symbol.asyncIterator]()
      // The snapshot begins with the first chunk.
      const first = await chunks.next()
      if (position && !first.done && position.partialSeq === undefined)
        return { position: toAncestor(position), chunks: prepend(first.value, chunks) }
      await chunks.return?.()
      if (!position || first.done) throw commonErrors.NO_DATA()
      if (performance.now() > deadline) throw createUnavailableError(undefined, 'LOG_LOST')
    }
  },
})

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield first
    for (let next; !(next = await rest.next()).done;) yield next.value
  } finally {
    await rest.return?.()
  }
}
