import { commonErrors } from '../errors/common-errors.ts'
import { VERSION } from '../version.ts'
import type { Bus, Calls } from '../channel/channel.ts'
import { BackupWriter } from './backup-format.ts'
import type { BackupSource } from './backup-source.ts'

// The main thread reads the data, because a serving thread may not have all of it. A thread requests one chunk after
// another.

// Calls of a thread to main.
const BEGIN_CALL = 'runtime:backup-begin'
const NEXT_CALL = 'runtime:backup-next'
const END_CALL = 'runtime:backup-end'

// Each session holds a snapshot of the database. Until the session ends, LevelDB can delete nothing that the snapshot
// contains.
const MAX_SESSIONS = 2
/** A session without requests ends after this time (ms). */
const SESSION_TIMEOUT_MS = 60_000
// Size at which a chunk ends.
const CHUNK_BYTES = 262_144
const MAX_CHUNK_ENTRIES = 4_096

interface BackupSession {
  readonly chunks: AsyncGenerator<Buffer, void>
  /** Releases the snapshot. Idempotent. */
  close(): Promise<void>
  readonly timer: NodeJS.Timeout
}

/**
 * Creates the handlers of the main thread. A backup contains the data as of its beginning.
 * @param source undefined if the service has no data
 * @param noBackupReason the reason why backups are not supported; undefined if they are
 */
export function createBackupHandlers(
  source: BackupSource | undefined,
  noBackupReason?: string,
): Record<string, (...args: any[]) => unknown> {
  const sessions = new Map<number, BackupSession>()
  let last = 0

  async function end(id: number): Promise<void> {
    const session = sessions.get(id)
    sessions.delete(id)
    clearTimeout(session?.timer)
    await session?.close()
  }

  return {
    [BEGIN_CALL]() {
      if (noBackupReason) throw commonErrors.BACKUP_NOT_SUPPORTED(noBackupReason)
      if (!source) throw commonErrors.NO_DATA()
      if (sessions.size >= MAX_SESSIONS)
        throw commonErrors.TOO_MANY_BACKUPS(undefined, { headers: { 'retry-after': '60' } })
      const id = ++last
      const timer = setTimeout(() => void end(id), SESSION_TIMEOUT_MS).unref()
      sessions.set(id, { ...createSession(source), timer })
      return id
    },
    async [NEXT_CALL](id: number) {
      const session = sessions.get(id)
      if (!session) throw new Error('the backup was aborted')
      session.timer.refresh()
      const { value: chunk } = await session.chunks.next()
      if (!chunk) await end(id)
      return chunk
    },
    [END_CALL]: end,
  }
}

function createSession({ db, service, format }: BackupSource): Omit<BackupSession, 'timer'> {
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  // The snapshot begins here, and not with the first chunk.
  const entries = db.iterator<Buffer, Buffer>({ ...bytes, fillCache: false, highWaterMarkBytes: CHUNK_BYTES })
  async function* encode(): AsyncGenerator<Buffer, void> {
    const writer = new BackupWriter()
    yield writer.writeHead(service, format)
    for (let found; (found = await entries.nextv(MAX_CHUNK_ENTRIES)).length > 0;) yield writer.writeEntries(found)
    yield writer.writeEnd(VERSION.version)
  }
  return { chunks: encode(), close: () => entries.close() }
}

/**
 * Begins a backup at once and returns its chunks. For serving threads.
 * @throws Problem `NO_DATA`, `BACKUP_NOT_SUPPORTED`, `TOO_MANY_BACKUPS`
 */
export async function beginBackup(bus: Bus<Calls, Calls>): Promise<AsyncIterable<Buffer>> {
  const id = await bus.call(BEGIN_CALL)
  return (async function* readChunks() {
    try {
      for (let chunk; (chunk = (await bus.call(NEXT_CALL, id)) as Uint8Array | undefined);)
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    } finally {
      await bus.call(END_CALL, id)
    }
  })()
}
