import { createUnavailableError } from '@influencer-stats/log/errors'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { randomBytes } from 'node:crypto'
import {
  encodePiece,
  encodeText,
  IMPORT_ABORT,
  IMPORT_BEGIN,
  IMPORT_END,
  IMPORT_EXPIRY,
  IMPORT_PIECE,
  EMPTY_BODY,
} from './core/log-entries.ts'
import { errors } from './errors.ts'
import { IMPORT_IDLE_TIMEOUT_MS } from './import-sessions.ts'
import type { ImportResult, ImportOptions, ImportHandler } from './messages.ts'
import { LOG_IMPORT_TIMEOUT_MS, type PricesStateMachine } from './catalog/prices-state-machine.ts'

/** So much of an import is one entry of the log (bytes). */
export const PIECE_BYTES = 524_288
/** That an import goes on is told the other nodes so often (ms), and whether one has been silent for too long is looked at. */
const CHECK_INTERVAL_MS = 5_000
/** What the log did not take is told it again so much later (ms). */
const RETRY_DELAY_MS = 500
/** Whoever is told that an import was refused may begin another at once, but for a log that takes longer (ms). */
const ABORT_WAIT_MS = 1_000

/** Puts something into the log. Resolves with what came of it here. @throws Problem why it was refused; `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
export type AppendEntry = <T extends boolean | ImportResult>(kind: number, body: Buffer) => Promise<T>

export interface LogImportsOptions {
  readonly append: AppendEntry
  readonly stateMachine: Pick<PricesStateMachine, 'open'>
  /** So many prices there may be. */
  readonly maxPrices: number
  /** An import may be so large (bytes). */
  readonly maxImportBytes: number
}

/** An import that a thread of this node takes. */
interface LogImportSession {
  readonly id: string
  chunks: Uint8Array[]
  size: number
  total: number
  pieces: number
  /** When the thread was heard of (ms, `performance.now`). */
  lastActiveAt: number
  /** Its entries of the log follow each other. */
  lastAppend: Promise<unknown>
}

/**
 * Imports on a node of many: their bytes go into the log piece by piece, and nothing of them counts before the entry that
 * ends one. So whatever goes wrong before is that nothing was changed. One is under way at a time, on all nodes.
 */
export class LogImports implements ImportHandler {
  readonly #options: LogImportsOptions
  readonly #sessions = new Map<number, LogImportSession>()
  readonly #timer: NodeJS.Timeout
  #token = 0
  #isClosed = false
  #isExpiring = false

  constructor(options: LogImportsOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#checkSessions(), CHECK_INTERVAL_MS).unref()
  }

  /** @throws Problem `IMPORT_RUNNING`, `LOG_UNAVAILABLE` */
  async start({ replace, empty }: ImportOptions): Promise<number> {
    const id = randomBytes(8).toString('hex')
    const session = {
      id,
      chunks: [],
      size: 0,
      total: 0,
      pieces: 0,
      lastActiveAt: performance.now(),
      lastAppend: Promise.resolve(),
    }
    const importBegin = { id, replace, mayBeEmpty: empty || !replace, most: this.#options.maxPrices }
    await this.#append(IMPORT_BEGIN, encodeText(importBegin)).catch((error: unknown) => {
      void this.#abort(session)
      throw error
    })
    this.#sessions.set(++this.#token, session)
    return this.#token
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `BODY_TOO_LARGE`, `IMPORT_LOST`, `LOG_UNAVAILABLE` */
  async addChunk(token: number, bytes: Uint8Array): Promise<void> {
    const session = this.#getSession(token)
    session.lastActiveAt = performance.now()
    session.total += bytes.length
    if (session.total > this.#options.maxImportBytes)
      throw commonErrors.BODY_TOO_LARGE(`an import is at most ${this.#options.maxImportBytes} bytes`)
    session.chunks.push(bytes)
    session.size += bytes.length
    if (session.size >= PIECE_BYTES) await this.#send(session)
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`, `IMPORT_LOST`, `TYPE_CONFLICT`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
  async end(token: number): Promise<ImportResult> {
    const session = this.#getSession(token)
    this.#sessions.delete(token)
    try {
      await this.#send(session)
      return await this.#options.append(IMPORT_END, encodeText({ id: session.id, pieces: session.pieces }))
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

  #getSession(token: number): LogImportSession {
    const session = this.#sessions.get(token)
    if (!session) throw errors.IMPORT_LOST()
    return session
  }

  #send(session: LogImportSession): Promise<unknown> {
    const { id, chunks: gathered, pieces } = session
    session.chunks = []
    session.size = 0
    session.pieces++
    return (session.lastAppend = session.lastAppend.then(() =>
      this.#append(IMPORT_PIECE, encodePiece(id, pieces, gathered)),
    ))
  }

  /** Puts into the log what counts only once the import ends: where it is not known whether it is there, nothing was changed. */
  async #append(kind: number, body: Buffer): Promise<void> {
    try {
      await this.#options.append(kind, body)
    } catch (error) {
      throw error instanceof Problem && error.code === errors.OUTCOME_UNKNOWN.code
        ? createUnavailableError(error)
        : error
    }
  }

  /**
   * Makes room for others: at once, or, where the log is away, as soon as it is back. Without this node it is given up later.
   * @returns resolves when there is room, or it takes longer
   */
  #abort({ id }: LogImportSession): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const retryLater = () => void (this.#isClosed || setTimeout(append, RETRY_DELAY_MS).unref())
    const append = () => void this.#options.append(IMPORT_ABORT, encodeText(id)).then(() => resolve(), retryLater)
    append()
    setTimeout(resolve, ABORT_WAIT_MS).unref()
    return promise
  }

  #checkSessions(): void {
    for (const [token, session] of this.#sessions) {
      if (performance.now() - session.lastActiveAt >= IMPORT_IDLE_TIMEOUT_MS) void this.abort(token)
      // Whoever takes it hears of what went wrong with its next piece.
      else this.#send(session).catch(() => {})
    }
    const { open } = this.#options.stateMachine
    if (!open || Date.now() - open.at < LOG_IMPORT_TIMEOUT_MS || this.#isExpiring) return
    this.#isExpiring = true
    this.#options
      .append(IMPORT_EXPIRY, EMPTY_BODY)
      .catch(() => {})
      .finally(() => (this.#isExpiring = false))
  }
}
