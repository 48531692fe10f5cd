import type { Logger } from 'pino'
import { Outage } from '../../async/outage.ts'
import type { WriteHealth } from '../write-health.ts'
import type { FolderVerification } from './folder-verification.ts'
import { WitnessFile } from './witness.ts'

/** Interval of updates (ms). After a kill, the loss of log bytes from the last interval is not detected. */
const INTERVAL_MS = 100

export interface FolderGuardOptions {
  readonly folder: string
  readonly health: WriteHealth
  /** `undefined` for a new folder. */
  readonly verification: FolderVerification | undefined
  readonly service: string
  readonly log: Pick<Logger, 'error'>
}

/**
 * Updates the witness `level/state.json` during writes. A folder without the file works, but truncated logs and
 * manifests are not detected.
 */
export class WitnessWriter {
  readonly #options: FolderGuardOptions
  readonly #timer: NodeJS.Timeout
  #file: WitnessFile | undefined
  #progress = 0
  readonly #outage: Outage

  constructor(options: FolderGuardOptions) {
    this.#options = options
    const { folder, verification: verified, service, log } = options
    // The old contents remain true, because files only grow.
    const onStart = (error: unknown) => log.error({ err: error }, `${service}: level/state.json cannot be written`)
    this.#outage = new Outage({ onStart })
    this.#try(() => {
      this.#file = new WitnessFile(folder, verified?.failedLogs ?? [])
    })
    this.#timer = setInterval(() => this.#updateIfChanged(), INTERVAL_MS).unref()
  }

  /** Records that a write has failed: the newest log may contain a part of that write. */
  markFailed(): void {
    this.#try(() => this.#file?.update(true))
  }

  markRecovered(): void {
    this.#try(() => this.#file?.markRecovered())
  }

  /** Call this after the database is closed. */
  close(): void {
    clearInterval(this.#timer)
    this.#try(() => this.#file?.close(this.#options.health.getFault() === undefined))
    this.#file = undefined
  }

  #updateIfChanged(): void {
    const progress = this.#options.health.getProgress()
    if (progress === this.#progress) return
    this.#progress = progress
    this.#try(() => this.#file?.update(this.#options.health.getFault() !== undefined))
  }

  #try(work: () => void): void {
    try {
      work()
      this.#outage.succeed()
    } catch (error) {
      this.#outage.fail(error)
    }
  }
}
