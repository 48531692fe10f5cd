import { errors } from '../errors.ts'
import type { ExportRange } from '../messages.ts'
import { exportPrices } from '../catalog/catalog-export.ts'
import type { PriceCatalog } from '../catalog/price-catalog.ts'

/** Maximum number of concurrent exports: each takes 21 bytes per price. */
const MAX_EXPORTS = 2

/** A running export. */
interface ExportSession {
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly close: () => Promise<void>
  readonly timer: NodeJS.Timeout
}

/** The running exports, on the main thread. Each holds the catalog in the state at its beginning. */
export class ExportSessions {
  readonly #catalog: PriceCatalog
  readonly #idleTimeoutMs: number
  readonly #sessions = new Map<number, ExportSession>()
  #running = 0
  #token = 0

  /**
   * @param idleTimeoutMs an export without calls from its thread for this time is aborted: the thread may have died
   * (ms)
   */
  constructor(catalog: PriceCatalog, idleTimeoutMs: number) {
    this.#catalog = catalog
    this.#idleTimeoutMs = idleTimeoutMs
  }

  /**
   * Starts an export.
   * @returns the token of the export for the other calls
   * @throws Problem `TOO_MANY_EXPORTS`
   */
  async start(range: ExportRange): Promise<number> {
    if (this.#running >= MAX_EXPORTS) throw errors.TOO_MANY_EXPORTS(undefined, { headers: { 'retry-after': '5' } })
    this.#running++
    const token = ++this.#token
    try {
      const { close, ...catalog } = await this.#catalog.freeze()
      const timer = setTimeout(() => void this.end(token), this.#idleTimeoutMs)
      timer.unref()
      this.#sessions.set(token, { pieces: exportPrices(catalog, range), close, timer })
    } catch (error) {
      this.#running--
      throw error
    }
    return token
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
    this.#running--
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.keys(), (token) => this.end(token)))
  }
}
