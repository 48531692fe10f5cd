import { setTimeout as delay } from 'node:timers/promises'
import { getSeconds, WriteLedger } from './write-ledger.ts'
import type { SeededRandom } from './random.ts'
import { run } from './service-process.ts'
import { getUnits, type TestedService } from './services/tested-service.ts'
import { write } from './write.ts'

export interface KillOptions {
  readonly random: SeededRandom
  /** Number of kills. */
  readonly kills: number
  /** Maximum number of acknowledged writes before a kill. */
  readonly writes: number
  /** Percentage of durable writes. */
  readonly durable: number
}

// Maximum delay from the last acknowledgement to a kill, for every second kill (ms). The other kills have no delay.
const MAX_DELAY_MS = 60

/**
 * Kills a service in `folder` repeatedly with -9 under writers. Returns the acknowledged writes that it lost, and other
 * violations.
 */
export async function killUnderWriters(
  subject: TestedService,
  folder: string,
  options: KillOptions,
): Promise<string[]> {
  const { random, kills, writes, durable } = options
  const units = getUnits(subject).flat()
  const violations: string[] = []
  let ledger: WriteLedger | undefined
  let killedAt: number | undefined
  for (let kill = 0; ; kill++) {
    const service = await run(subject.service, folder, { settings: subject.settings })
    const session = subject.connect(service.url)
    const found = await session.read(killedAt)
    const lost = ledger?.check(found, killedAt!, { requireAll: true }) ?? []
    violations.push(...lost.map((violation) => `kill ${kill}: ${violation}`))
    if (kill === kills) {
      await session.close()
      const code = await service.stop()
      return code === 0 ? violations : [...violations, `it ended with ${code}`]
    }
    ledger = new WriteLedger(units, found)
    const limitReached = Promise.withResolvers<void>()
    let remaining = 1 + random.below(writes)
    const onAcknowledged = () => --remaining === 0 && limitReached.resolve()
    const writing = write(session, { subject, ledger, random, durable, onAcknowledged })
    await Promise.race([limitReached.promise, writing])
    if (kill % 2 === 0) await delay(random.below(MAX_DELAY_MS))
    await service.crash()
    await writing
    killedAt = getSeconds()
    await session.close()
  }
}
