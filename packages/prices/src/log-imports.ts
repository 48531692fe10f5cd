import { unavailable } from '@influencer-stats/log/errors'
import { errors as house } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { randomBytes } from 'node:crypto'
import {
  encodePiece,
  encodeText,
  IMPORT_ABORTED,
  IMPORT_BEGINS,
  IMPORT_ENDS,
  IMPORT_EXPIRES,
  IMPORT_PIECE,
  NOTHING,
} from './core/log-entries.ts'
import { errors } from './errors.ts'
import { IMPORT_SILENCE } from './import-sessions.ts'
import type { Imported, ImportOptions, Imports } from './messages.ts'
import { IMPORT_PATIENCE, type LogView } from './owner/log-view.ts'

/** So much of an import is one entry of the log (bytes). */
export const PIECE = 524_288
/** That an import goes on is told the other nodes so often (ms), and whether one has been silent for too long is looked at. */
const EVERY = 5_000
/** What the log did not take is told it again so much later (ms). */
const AGAIN_AFTER = 500
/** Whoever is told that an import was refused may begin another at once, but for a log that takes longer (ms). */
const ROOM_WITHIN = 1_000

/** Puts something into the log. Resolves with what came of it here. @throws Problem why it was refused; `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
export type Append = <T extends boolean | Imported>(kind: number, body: Buffer) => Promise<T>

export interface LogImportsOptions {
  readonly append: Append
  readonly view: Pick<LogView, 'open'>
  /** So many prices there may be. */
  readonly most: number
  /** An import may be so large (bytes). */
  readonly limit: number
}

/** An import that a thread of this node takes. */
interface Session {
  readonly id: string
  gathered: Uint8Array[]
  size: number
  total: number
  pieces: number
  /** When the thread was heard of (ms, `performance.now`). */
  heard: number
  /** Its entries of the log follow each other. */
  last: Promise<unknown>
}

/**
 * Imports on a node of many: their bytes go into the log piece by piece, and nothing of them counts before the entry that
 * ends one. So whatever goes wrong before is that nothing was changed. One is under way at a time, on all nodes.
 */
export class LogImports implements Imports {
  readonly #options: LogImportsOptions
  readonly #sessions = new Map<number, Session>()
  readonly #timer: NodeJS.Timeout
  #token = 0
  #isClosed = false
  #isExpiring = false

  constructor(options: LogImportsOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), EVERY).unref()
  }

  /** @throws Problem `IMPORT_RUNNING`, `LOG_UNAVAILABLE` */
  async start({ replace, empty }: ImportOptions): Promise<number> {
    const id = randomBytes(8).toString('hex')
    const session = {
      id,
      gathered: [],
      size: 0,
      total: 0,
      pieces: 0,
      heard: performance.now(),
      last: Promise.resolve(),
    }
    const begins = { id, replace, mayBeEmpty: empty || !replace, most: this.#options.most }
    await this.#tell(IMPORT_BEGINS, encodeText(begins)).catch((error: unknown) => {
      void this.#abort(session)
      throw error
    })
    this.#sessions.set(++this.#token, session)
    return this.#token
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `BODY_TOO_LARGE`, `IMPORT_LOST`, `LOG_UNAVAILABLE` */
  async chunk(token: number, bytes: Uint8Array): Promise<void> {
    const session = this.#of(token)
    session.heard = performance.now()
    session.total += bytes.length
    if (session.total > this.#options.limit)
      throw house.BODY_TOO_LARGE(`an import is at most ${this.#options.limit} bytes`)
    session.gathered.push(bytes)
    session.size += bytes.length
    if (session.size >= PIECE) await this.#send(session)
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`, `IMPORT_LOST`, `TYPE_CONFLICT`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
  async end(token: number): Promise<Imported> {
    const session = this.#of(token)
    this.#sessions.delete(token)
    try {
      await this.#send(session)
      return await this.#options.append(IMPORT_ENDS, encodeText({ id: session.id, pieces: session.pieces }))
    } catch (error) {
      await this.#abort(session)
      throw error
    }
  }

  /** Resolves when there is room for another import, or it takes longer. */
  async abort(token: number): Promise<void> {
    const session = this.#sessions.get(token)
    this.#sessions.delete(token)
    if (session) await this.#abort(session)
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const token of this.#sessions.keys()) void this.abort(token)
  }

  #of(token: number): Session {
    const session = this.#sessions.get(token)
    if (!session) throw errors.IMPORT_LOST()
    return session
  }

  #send(session: Session): Promise<unknown> {
    const { id, gathered, pieces } = session
    session.gathered = []
    session.size = 0
    session.pieces++
    return (session.last = session.last.then(() => this.#tell(IMPORT_PIECE, encodePiece(id, pieces, gathered))))
  }

  /** Puts into the log what counts only once the import ends: where it is not known whether it is there, nothing was changed. */
  async #tell(kind: number, body: Buffer): Promise<void> {
    try {
      await this.#options.append(kind, body)
    } catch (error) {
      throw error instanceof Problem && error.code === errors.OUTCOME_UNKNOWN.code ? unavailable(error) : error
    }
  }

  /**
   * Makes room for others: at once, or, where the log is away, as soon as it is back. Without this node it is given up later.
   * @returns resolves when there is room, or it takes longer
   */
  #abort({ id }: Session): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const again = () => void (this.#isClosed || setTimeout(tell, AGAIN_AFTER).unref())
    const tell = () => void this.#options.append(IMPORT_ABORTED, encodeText(id)).then(() => resolve(), again)
    tell()
    setTimeout(resolve, ROOM_WITHIN).unref()
    return promise
  }

  #look(): void {
    for (const [token, session] of this.#sessions) {
      if (performance.now() - session.heard >= IMPORT_SILENCE) void this.abort(token)
      // Whoever takes it hears of what went wrong with its next piece.
      else this.#send(session).catch(() => {})
    }
    const { open } = this.#options.view
    if (!open || Date.now() - open.at < IMPORT_PATIENCE || this.#isExpiring) return
    this.#isExpiring = true
    this.#options
      .append(IMPORT_EXPIRES, NOTHING)
      .catch(() => {})
      .finally(() => (this.#isExpiring = false))
  }
}
