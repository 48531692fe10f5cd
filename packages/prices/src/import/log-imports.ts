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
} from '../catalog/log-entries.ts'
import { errors } from '../errors.ts'
import { IMPORT_IDLE_TIMEOUT_MS } from './import-sessions.ts'
import type { ImportResult, ImportOptions, ImportHandler } from '../messages.ts'
import { LOG_IMPORT_TIMEOUT_MS, type PricesStateMachine } from '../catalog/prices-state-machine.ts'

/**
 * Size at which the collected bytes of an import are appended to the log as a piece (bytes). Smaller pieces follow every
 * `CHECK_INTERVAL_MS` and at the end.
 */
export const PIECE_BYTES = 524_288
/**
 * Interval (ms) at which this node appends a piece, possibly empty, so that other nodes know that the import continues.
 * It also checks for expired imports.
 */
const CHECK_INTERVAL_MS = 5_000
/** Delay before a failed append is retried (ms). */
const RETRY_DELAY_MS = 500
/**
 * Maximum time to wait until the abort entry of a failed import is in the log (ms). After the wait, a client can
 * usually begin the next import at once.
 */
const ABORT_WAIT_MS = 1_000

/**
 * Appends an entry to the log. Resolves with its outcome on this node.
 * @throws Problem the reason of a refusal; `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
 */
export type AppendEntry = <T extends boolean | ImportResult>(kind: number, body: Buffer) => Promise<T>

export interface LogImportsOptions {
  readonly append: AppendEntry
  readonly stateMachine: Pick<PricesStateMachine, 'open'>
  /** Maximum number of prices. */
  readonly maxPrices: number
  /** Maximum size of an import (bytes). */
  readonly maxImportBytes: number
}

/** An import that a thread of this node receives. */
interface LogImportSession {
  readonly id: string
  /** The collected bytes that are not appended yet, and their size. */
  chunks: Uint8Array[]
  size: number
  /** Number of all bytes received. */
  total: number
  /** Number of pieces appended. */
  pieces: number
  /** The time of the last call from the thread (ms, `performance.now`). */
  lastActiveAt: number
  /** The last append. The appends of an import run one after the other. */
  lastAppend: Promise<unknown>
}

/**
 * Imports on a cluster node. Their bytes go into the log in pieces, and take effect only with the final entry. So any
 * earlier fault leaves the catalog unchanged. At most one import runs at a time on all nodes.
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
      throw commonErrors.BODY_TOO_LARGE(`an import may have up to ${this.#options.maxImportBytes} bytes`)
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

  /** Resolves when another import can begin, or after `ABORT_WAIT_MS`. */
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
    const { id, chunks, pieces } = session
    session.chunks = []
    session.size = 0
    session.pieces++
    return (session.lastAppend = session.lastAppend.then(() =>
      this.#append(IMPORT_PIECE, encodePiece(id, pieces, chunks)),
    ))
  }

  /**
   * Appends an entry that takes effect only when the import ends. So an unknown outcome means that the catalog is
   * unchanged, and is reported as `LOG_UNAVAILABLE`.
   */
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
   * Aborts an import, so that another can begin. If the log is unavailable, it retries until the log is back. If this
   * node fails, the import expires later.
   * @returns resolves when another import can begin, or after `ABORT_WAIT_MS`
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
      // The next piece of the import reports this error to its client.
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
