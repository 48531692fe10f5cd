import type { SnapshotSource } from '@influencer-stats/runtime/backup-source'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { toAncestor } from './jetstream/stream/stream.ts'
import type { LogPosition, StateMachine } from './log.ts'

/**
 * Creates the source of the backups of a cluster node: snapshots of its state machine. It does not need the log, so it
 * also works while the log is unavailable or lost.
 */
export const createBackupSource = (service: string, stateMachine: Pick<StateMachine, 'snapshot'>): SnapshotSource => ({
  service,
  async openSnapshot() {
    let position: LogPosition | undefined
    const chunks = stateMachine.snapshot((found) => (position = found))[Symbol.asyncIterator]()
    // The snapshot begins with the first chunk.
    const first = await chunks.next()
    if (!position || first.done) {
      await chunks.return?.()
      throw commonErrors.NO_DATA()
    }
    return { position: toAncestor(position), chunks: prepend(first.value, chunks) }
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
