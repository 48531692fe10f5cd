import { setTimeout as delay } from 'node:timers/promises'
import type { Contents, WriteLedger, WriteUnit } from './write-ledger.ts'
import type { SeededRandom } from './random.ts'
import { getUnits, type ServiceSession, type TestedService } from './services/tested-service.ts'

/** A fifth of the writes to units of one key are deletions. */
const DELETES_ONE_IN = 5
/** Delay after a failed write (ms). */
const RETRY_DELAY_MS = 100

export interface WriteOptions {
  readonly subject: TestedService
  readonly ledger: WriteLedger
  readonly random: SeededRandom
  /** Percentage of durable writes. */
  readonly durable: number
  /** Called after each acknowledged write. */
  onAcknowledged?(): void
  /**
   * If given, writers continue after failed writes until this signal is aborted. Otherwise a failed write ends its
   * writer.
   */
  readonly retryUntil?: AbortSignal
  /** Pause of a writer after each acknowledged write (ms). */
  readonly pause?: number
}

/** Number of the last write. Each write has a unique number, which identifies it. */
let lastNumber = 0

/** Runs all writers concurrently until they end. Each changes its own units, one write after the other. */
export async function write(session: ServiceSession, options: WriteOptions): Promise<void> {
  const { subject, ledger, random, durable, onAcknowledged, retryUntil, pause } = options

  function next({ keys }: WriteUnit): Contents {
    const value = ++lastNumber
    const deletes = subject.deletes && keys.length === 1 && random.below(DELETES_ONE_IN) === 0
    return new Map(keys.map((key) => [key, deletes ? undefined : value]))
  }

  async function writer(own: readonly WriteUnit[]): Promise<void> {
    while (!retryUntil?.aborted) {
      const unit = random.one(own)
      const contents = next(unit)
      const isDurable = random.below(100) < durable
      try {
        await ledger.write(unit, contents, isDurable, () => session.write(contents, isDurable))
        onAcknowledged?.()
        if (pause) await delay(pause)
      } catch {
        if (!retryUntil) return
        await delay(RETRY_DELAY_MS)
      }
    }
  }
  await Promise.all(getUnits(subject).map(writer))
}
