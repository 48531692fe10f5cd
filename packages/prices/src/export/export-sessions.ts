import { errors } from '../errors.ts'
import type { ExportRange } from '../messages.ts'
import { exportPrices } from '../catalog/catalog-export.ts'
import type { PriceCatalog } from '../catalog/price-catalog.ts'

/** Maximum number of concurrent exports. */
const MAX_EXPORTS = 16
/** Number of exports that need no free memory, so that a catalog of any size can be exported. */
const MIN_EXPORTS = 2
/** Memory of an export per price of the catalog, until the prices are in order (bytes). */
const SORT_BYTES = 25
/** Memory of an export per price that it still contains then (bytes). */
const ROW_BYTES = 4

/** A running export. */
interface ExportSession {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly close: () => Promise<void>
  readonly timer: NodeJS.Timeout
}

interface ExportSessionsOptions {
  /** Maximum memory of all exports (bytes). */
  readonly memoryLimit: number
  /** An export without calls from its thread for this time is aborted: the thread may have died (ms). */
  readonly idleTimeoutMs: number
}

/**
 * The running exports, on the main thread. Each holds the catalog in the state at its beginning. Their number is limited
 * by their memory, so that a few clients that do not read cannot block the exports of others.
 */
export class ExportSessions {
  readonly #catalog: PriceCatalog
  readonly #options: ExportSessionsOptions
  readonly #sessions = new Map<number, ExportSession>()
  /** The memory of each running export, by its token (bytes). */
  readonly #memory = new Map<number, number>()
  #token = 0

  constructor(catalog: PriceCatalog, options: ExportSessionsOptions) {
    this.#catalog = catalog
    this.#options = options
  }

  /**
   * Starts an export.
   * @returns the token of the export for the other calls
   * @throws Problem `TOO_MANY_EXPORTS`
   */
  async start(range: ExportRange): Promise<number> {
    const token = ++this.#token
    this.#reserve(token, SORT_BYTES * this.#catalog.size)
    try {
      const { close, ...catalog } = await this.#catalog.freeze()
      const timer = setTimeout(() => void this.end(token), this.#options.idleTimeoutMs)
      timer.unref()
      const onSorted = (rows: number) => this.#memory.set(token, ROW_BYTES * rows)
      this.#sessions.set(token, { pieces: exportPrices(catalog, range, onSorted), close, timer })
    } catch (error) {
      this.#memory.delete(token)
      throw error
    }
    return token
  }

  /** @throws Problem `TOO_MANY_EXPORTS` */
  #reserve(token: number, bytes: number): void {
    const running = this.#memory.size
    const held = this.#memory.values().reduce((sum, one) => sum + one, bytes)
    if (running >= MAX_EXPORTS || (running >= MIN_EXPORTS && held > this.#options.memoryLimit))
      throw errors.TOO_MANY_EXPORTS(undefined, { headers: { 'retry-after': '5' } })
    this.#memory.set(token, bytes)
  }

  /**
   * Returns the next lines; undefined at the end.
   * @throws Problem `EXPORT_LOST`
   */
  async readNext(token: number): Promise<Uint8Array | undefined> {
    const session = this.#sessions.get(token)
    if (!session) throw errors.EXPORT_LOST()
    session.timer.refresh()
    const { value, done } = await session.pieces.next()
    session.timer.refresh()
    return done ? undefined : value
  }

  /** Idempotent. */
  async end(token: number): Promise<void> {
    const session = this.#sessions.get(token)
    if (!session) return
    this.#sessions.delete(token)
    clearTimeout(session.timer)
    await session.pieces.return(undefined)
    await session.close()
    this.#memory.delete(token)
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.keys(), (token) => this.end(token)))
  }
}
