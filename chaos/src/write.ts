import { setTimeout as delay } from 'node:timers/promises'
import type { Contents, WriteLedger, WriteUnit } from './write-ledger.ts'
import type { SeededRandom } from './random.ts'
import { getUnits, type ServiceSession, type TestedService } from './services/tested-service.ts'

const DELETES_ONE_IN = 5
/** After a write that failed (ms). */
const RETRY_DELAY_MS = 100

export interface WriteOptions {
  readonly subject: TestedService
  readonly ledger: WriteLedger
  readonly random: SeededRandom
  /** Which writes are durable: so many of 100. */
  readonly durable: number
  onAcknowledged?(): void
  /** Without it a write that fails is a writer's last; with it writers go on, whatever fails, until then. */
  readonly goesOnUntil?: AbortSignal
  /** How long a writer waits after each write (ms). */
  readonly pause?: number
}

/** No two writes leave the same, so that a number that is found tells its write. */
let last = 0

/** Lets all writers change their units, each one write after the other, until the service is gone. */
export async function write(session: ServiceSession, options: WriteOptions): Promise<void> {
  const { subject, ledger, random, durable, onAcknowledged, goesOnUntil, pause } = options

  function next({ keys }: WriteUnit): Contents {
    const value = ++last
    const deletes = subject.deletes && keys.length === 1 && random.below(DELETES_ONE_IN) === 0
    return new Map(keys.map((key) => [key, deletes ? undefined : value]))
  }

  async function writer(own: readonly WriteUnit[]): Promise<void> {
    while (!goesOnUntil?.aborted) {
      const unit = random.one(own)
      const contents = next(unit)
      const isDurable = random.below(100) < durable
      try {
        await ledger.write(unit, contents, isDurable, () => session.write(contents, isDurable))
        onAcknowledged?.()
        if (pause) await delay(pause)
      } catch {
        if (!goesOnUntil) return
        await delay(RETRY_DELAY_MS)
      }
    }
  }
  await Promise.all(getUnits(subject).map(writer))
}
