import { describeFinding } from './assert-sound.ts'
import type { TableScrubber } from './table-scrubber.ts'
import { WitnessWriter, type FolderGuardOptions } from './witness-writer.ts'

/** Delay of the scrubber, so that it does not slow down the start of the service (ms). */
const SCRUB_DELAY_MS = 10_000

/** Watches the files of a database while the main thread has it open. */
export class FolderGuard {
  readonly witness: WitnessWriter
  readonly #options: FolderGuardOptions
  readonly #timer: NodeJS.Timeout
  #scrubber: Promise<TableScrubber> | undefined

  constructor(options: FolderGuardOptions) {
    this.#options = options
    const { service, health, log, verification: verified } = options
    const lost = verified?.lostChanges ?? 0
    health.setLostChanges(lost)
    if (lost > 0) log.error({ lost }, `${service}: a power cut lost ${lost} changes; none of them was durable`)
    this.witness = new WitnessWriter(options)
    this.#timer = setTimeout(() => void (this.#scrubber = this.#startScrubber()), SCRUB_DELAY_MS).unref()
  }

  /** Stops the scrubber. The witness is closed later, after the database. Idempotent. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await (await this.#scrubber)?.close()
  }

  async #startScrubber(): Promise<TableScrubber> {
    const { TableScrubber } = await import('./table-scrubber.ts')
    const { folder, service, health, log, verification: verified } = this.#options
    return new TableScrubber({
      folder,
      unread: verified?.unread ?? [],
      onDamage(finding, count) {
        health.setDamagedFiles(count)
        const code = 'DATA_DAMAGED'
        log.error({ code }, `${service}: data folder ${folder} is damaged: ${describeFinding(finding)}`)
      },
    })
  }
}
