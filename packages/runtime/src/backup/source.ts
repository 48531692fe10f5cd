import { errors } from '../http/errors.ts'
import { VERSION } from '../http/version.ts'
import type { Bus, Calls } from '../process/channel.ts'
import { BackupWriter } from './format.ts'
import type { Kept } from './kept.ts'

// Main reads, because it has the data whatever a thread has of them; a thread asks it for one piece after the other.

/** Calls of a thread to main. */
const BEGIN = 'runtime:backup-begin'
const NEXT = 'runtime:backup-next'
const END = 'runtime:backup-end'

// Each holds a state of the database, of which nothing can be thrown away meanwhile.
const MOST = 2
/** One that nobody asks for is given up (ms). */
const PATIENCE = 60_000
const PIECE = 262_144
const MOST_ENTRIES = 4_096

interface Session {
  next(): Promise<Buffer | undefined>
  end(): Promise<void>
  timer: NodeJS.Timeout
}

/** What main answers: backups of what a database holds at the moment in which each begins. @param elsewhere why there are none */
export function backupHandlers(
  kept: Kept | undefined,
  elsewhere?: string,
): Record<string, (...args: any[]) => unknown> {
  const sessions = new Map<number, Session>()
  let last = 0

  async function end(id: number): Promise<void> {
    const session = sessions.get(id)
    sessions.delete(id)
    clearTimeout(session?.timer)
    await session?.end()
  }

  return {
    [BEGIN]() {
      if (elsewhere) throw errors.KEPT_ELSEWHERE(elsewhere)
      if (!kept) throw errors.NOTHING_KEPT()
      if (sessions.size >= MOST) throw errors.BACKUPS_RUNNING(undefined, { headers: { 'retry-after': '60' } })
      const id = ++last
      const timer = setTimeout(() => void end(id), PATIENCE).unref()
      sessions.set(id, { ...createSession(kept), timer })
      return id
    },
    async [NEXT](id: number) {
      const session = sessions.get(id)
      if (!session) throw new Error('the backup was given up')
      session.timer.refresh()
      const piece = await session.next()
      if (!piece) await end(id)
      return piece
    },
    [END]: end,
  }
}

function createSession({ db, service, format }: Kept): Omit<Session, 'timer'> {
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const entries = db.iterator<Buffer, Buffer>({ ...bytes, fillCache: false, highWaterMarkBytes: PIECE })
  const writer = new BackupWriter()
  let first: Buffer | undefined = writer.head(service, format)
  let hasEnded = false
  return {
    async next() {
      if (hasEnded) return undefined
      const found = await entries.nextv(MOST_ENTRIES)
      hasEnded = found.length === 0
      const piece = hasEnded ? writer.end(VERSION.version) : writer.entries(found)
      const head = first
      first = undefined
      return head ? Buffer.concat([head, piece]) : piece
    },
    end: () => entries.close(),
  }
}

/** A backup as a thread hands it on. Begins at once. @throws Problem `NOTHING_KEPT`, `KEPT_ELSEWHERE`, `BACKUPS_RUNNING` */
export async function beginBackup(bus: Bus<Calls, Calls>): Promise<AsyncIterable<Buffer>> {
  const id = await bus.call(BEGIN)
  return (async function* pieces() {
    try {
      for (let piece; (piece = (await bus.call(NEXT, id)) as Uint8Array | undefined);) yield Buffer.from(piece)
    } finally {
      await bus.call(END, id)
    }
  })()
}
