import { commonErrors } from '../errors/common-errors.ts'
import { VERSION } from '../version.ts'
import type { Bus, Calls } from '../channel/channel.ts'
import { BackupWriter } from './backup-format.ts'
import type { BackupSource, DatabaseSource, SnapshotSource } from './backup-source.ts'

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
/** Key of the entries that are parts of a snapshot. */
const NO_KEY = Buffer.alloc(0)

interface BackupSession {
  readonly chunks: AsyncGenerator<Buffer, void>
  /** Releases the snapshot. Idempotent. */
  close(): Promise<void>
  readonly timer: NodeJS.Timeout
}

/**
 * Creates the handlers of the main thread. A backup contains the data as of its beginning.
 * @param source undefined if the service has no data
 */
export function createBackupHandlers(source: BackupSource | undefined): Record<string, (...args: any[]) => unknown> {
  const sessions = new Map<number, BackupSession>()
  let last = 0
  /** Number of sessions that are being opened. */
  let opening = 0

  async function end(id: number): Promise<void> {
    const session = sessions.get(id)
    sessions.delete(id)
    clearTimeout(session?.timer)
    await session?.close()
  }

  return {
    async [BEGIN_CALL]() {
      if (!source) throw commonErrors.NO_DATA()
      if (sessions.size + opening >= MAX_SESSIONS)
        throw commonErrors.TOO_MANY_BACKUPS(undefined, { headers: { 'retry-after': '60' } })
      opening++
      try {
        const session = 'db' in source ? createDatabaseSession(source) : await createSnapshotSession(source)
        const id = ++last
        const timer = setTimeout(() => void end(id), SESSION_TIMEOUT_MS).unref()
        sessions.set(id, { ...session, timer })
        return id
      } finally {
        opening--
      }
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

function createDatabaseSession({ db, service, format }: DatabaseSource): Omit<BackupSession, 'timer'> {
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  // The snapshot begins here, and not with the first chunk.
  const entries = db.iterator<Buffer, Buffer>({ ...bytes, fillCache: false, highWaterMarkBytes: CHUNK_BYTES })
  async function* encode(): AsyncGenerator<Buffer, void> {
    const writer = new BackupWriter()
    yield writer.writeHead({ backup: 1, service, format })
    for (let found; (found = await entries.nextv(MAX_CHUNK_ENTRIES)).length > 0;) yield writer.writeEntries(found)
    yield writer.writeEnd(VERSION.version)
  }
  return { chunks: encode(), close: () => entries.close() }
}

/** @throws Problem */
async function createSnapshotSession({ service, openSnapshot }: SnapshotSource): Promise<Omit<BackupSession, 'timer'>> {
  const { position, chunks } = await openSnapshot()
  async function* encode(): AsyncGenerator<Buffer, void> {
    const writer = new BackupWriter()
    yield writer.writeHead({ backup: 2, service, position })
    for await (const chunk of chunks) yield writer.writeEntries([[NO_KEY, chunk]])
    yield writer.writeEnd(VERSION.version)
  }
  return { chunks: encode(), close: async () => void (await chunks.return()) }
}

/**
 * Begins a backup at once and returns its chunks. For serving threads.
 * @throws Problem `NO_DATA`, `LOG_UNAVAILABLE`, `TOO_MANY_BACKUPS`
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
