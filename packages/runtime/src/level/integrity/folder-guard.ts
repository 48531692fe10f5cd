import type { Logger } from 'pino'
import type { WriteHealth } from '../write-health.ts'
import { describeFinding } from './assert-sound.ts'
import { TableScrubber } from './table-scrubber.ts'
import type { Verified } from './verify-folder.ts'
import { WitnessWriter } from './witness-writer.ts'

export interface FolderGuardOptions {
  readonly folder: string
  readonly service: string
  readonly health: WriteHealth
  readonly log: Pick<Logger, 'error'>
  /** Nothing of a new folder. */
  readonly verified: Verified | undefined
}

/** What looks after the files of a database while main has it open. */
export class FolderGuard {
  readonly witness: WitnessWriter
  readonly #scrubber: TableScrubber

  constructor(options: FolderGuardOptions) {
    const { folder, service, health, log, verified } = options
    const lost = verified?.lostChanges ?? 0
    health.setLostChanges(lost)
    if (lost > 0) log.error({ lost }, `${service}: a power cut took ${lost} changes, none of which was durable`)
    this.witness = new WitnessWriter(options)
    this.#scrubber = new TableScrubber({
      folder,
      unread: verified?.unread ?? [],
      onDamage(finding, count) {
        health.setDamagedFiles(count)
        const code = 'DATA_DAMAGED'
        log.error({ code }, `${service}: data folder ${folder} is damaged: ${describeFinding(finding)}`)
      },
    })
  }

  /** Ends what reads the files. The witness is closed once the database is. */
  stop(): Promise<void> {
    return this.#scrubber.close()
  }
}
