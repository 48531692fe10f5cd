import { createUnavailableError } from '@influencer-stats/log/errors'
import type { EntryBody } from '@influencer-stats/log/log'
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
  type ImportPiece,
} from '../catalog/log-entries.ts'
import { errors } from '../errors.ts'
import type { ImportedPrices, ImportResult, ImportOptions } from '../messages.ts'
import type { PriceCatalog } from '../catalog/price-catalog.ts'
import { LOG_IMPORT_TIMEOUT_MS, type PricesResult } from '../catalog/prices-state-machine.ts'
import { FLUSH_INTERVAL_MS } from './send-import.ts'

/**
 * Interval (ms) at which this node appends an empty piece, so that other nodes know that the import continues. It also
 * checks for expired imports.
 */
const CHECK_INTERVAL_MS = 5_000
/**
 * An import without calls from its thread for this time is aborted: the thread may have died, or its client sends no
 * data for a minute (ms).
 */
const IDLE_TIMEOUT_MS = 60_000 + FLUSH_INTERVAL_MS
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
export type AppendEntry = <T extends PricesResult>(kind: number, body: EntryBody) => Promise<T>

export interface LogImportsOptions {
  readonly append: AppendEntry
  readonly catalog: Pick<PriceCatalog, 'meta'>
  /** Maximum number of prices. */
  readonly maxPrices: number
  /** Maximum size of an import in a cluster (bytes). */
  readonly maxImportBytes: number
}

/** An import that a thread of this process receives. */
interface LogImportSession {
  readonly id: string
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
 * Imports, on the main thread. They go into the log in pieces, and take effect only with the final entry. So any
 * earlier fault leaves the catalog unchanged. At most one import runs at a time, in a cluster on all nodes: it can hold
 * a whole new catalog in memory.
 */
export class LogImports {
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

  /**
   * Starts an import.
   * @returns the token of the import for the other calls
   * @throws Problem `IMPORT_RUNNING`, `LOG_UNAVAILABLE`
   */
  async start({ replace, empty }: ImportOptions): Promise<number> {
    const id = randomBytes(8).toString('hex')
    const session = { id, total: 0, pieces: 0, lastActiveAt: performance.now(), lastAppend: Promise.resolve() }
    const importBegin = { id, replace, mayBeEmpty: empty || !replace, most: this.#options.maxPrices }
    await this.#append(IMPORT_BEGIN, encodeText(importBegin)).catch((error: unknown) => {
      void this.#abort(session)
      throw error
    })
    this.#sessions.set(++this.#token, session)
    return this.#token
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `BODY_TOO_LARGE`, `IMPORT_LOST`, `LOG_UNAVAILABLE` */
  async addPiece(token: number, prices: ImportedPrices): Promise<void> {
    const session = this.#getSession(token)
    session.lastActiveAt = performance.now()
    if (!(prices instanceof Uint8Array)) return void (await this.#send(session, { bytes: EMPTY_BODY, batch: prices }))
    session.total += prices.length
    if (session.total > this.#options.maxImportBytes)
      throw commonErrors.BODY_TOO_LARGE(`an import may have up to ${this.#options.maxImportBytes} bytes`)
    await this.#send(session, { bytes: prices })
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL`, `IMPORT_EMPTY`, `IMPORT_LOST`, `TYPE_CONFLICT`, `DISK_FULL`, `STORE_FAILED`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
  async end(token: number): Promise<ImportResult> {
    const session = this.#getSession(token)
    this.#sessions.delete(token)
    try {
      await session.lastAppend
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

  #send(session: LogImportSession, prices: Pick<ImportPiece, 'bytes' | 'batch'>): Promise<unknown> {
    const value = { id: session.id, number: session.pieces++, ...prices }
    return (session.lastAppend = session.lastAppend.then(() =>
      this.#append(IMPORT_PIECE, { value, encode: () => encodePiece(value) }),
    ))
  }

  /**
   * Appends an entry that takes effect only when the import ends. So an unknown outcome means that the catalog is
   * unchanged, and is reported as `LOG_UNAVAILABLE`.
   */
  async #append(kind: number, body: EntryBody): Promise<void> {
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
      if (performance.now() - session.lastActiveAt >= IDLE_TIMEOUT_MS) void this.abort(token)
      // The next piece of the import reports this error to its client.
      else this.#send(session, { bytes: EMPTY_BODY }).catch(() => {})
    }
    const open = this.#options.catalog.meta.log?.open
    if (!open || Date.now() - open.at < LOG_IMPORT_TIMEOUT_MS || this.#isExpiring) return
    this.#isExpiring = true
    this.#options
      .append(IMPORT_EXPIRY, EMPTY_BODY)
      .catch(() => {})
      .finally(() => (this.#isExpiring = false))
  }
}
