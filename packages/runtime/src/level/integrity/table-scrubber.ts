import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listLevel } from '../files/level-files.ts'
import { readManifest, type LiveTable } from '../files/level-manifest.ts'
import { checkTableThrottled } from '../files/read-table.ts'
import type { Finding } from './folder-verification.ts'
import { readCurrentManifest } from './witness.ts'

const DAY_MS = 86_400_000
/** Read rate of the scrubber. At this rate it uses 4 % of a processor. */
const BYTES_PER_SECOND = 33_554_432

export interface TableScrubberOptions {
  readonly folder: string
  /** Tables that the start did not read. */
  readonly unread: readonly LiveTable[]
  /** Called once for each damaged table. @param damaged number of damaged tables that are known */
  onDamage(finding: Finding, damaged: number): void
}

/**
 * Checks all tables while the service runs, because LevelDB does not verify checksums when it reads: first the tables
 * that the start did not check, then all tables once a day.
 */
export class TableScrubber {
  readonly #options: TableScrubberOptions
  readonly #closing = new AbortController()
  readonly #damaged = new Set<number>()
  readonly #running: Promise<void>

  constructor(options: TableScrubberOptions) {
    this.#options = options
    this.#running = this.#run().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) throw error
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    await this.#read(this.#options.unread)
    for (;;) {
      await this.#wait(DAY_MS)
      await this.#read(this.#readLiveTables())
    }
  }

  async #read(tables: readonly LiveTable[]): Promise<void> {
    const { folder, onDamage } = this.#options
    const names = listLevel(join(folder, 'level')).tables
    for (const { number } of tables) {
      const name = names.get(number)
      // LevelDB deletes tables that it has merged into others.
      if (!name || this.#damaged.has(number)) continue
      const damage = await this.#findDamage(join(folder, 'level', name))
      if (!damage) continue
      this.#damaged.add(number)
      onDamage({ file: join('level', name), problem: damage }, this.#damaged.size)
    }
  }

  async #findDamage(file: string): Promise<string | undefined> {
    try {
      const { damaged } = await checkTableThrottled(file, (bytes) => this.#wait((bytes / BYTES_PER_SECOND) * 1_000))
      return damaged[0]?.problem
    } catch (error) {
      this.#closing.signal.throwIfAborted()
      const { code } = error as NodeJS.ErrnoException
      return code === 'ENOENT' ? undefined : `it cannot be read (${code})`
    }
  }

  #readLiveTables(): LiveTable[] {
    const location = join(this.#options.folder, 'level')
    try {
      return [...readManifest(readFileSync(join(location, readCurrentManifest(location)))).tables.values()]
    } catch {
      // The manifest is being replaced: the check of the next day reads it.
      return []
    }
  }

  #wait(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#closing.signal, ref: false })
  }
}
