import type { Contents, Ledger, Unit } from './ledger.ts'
import type { Random } from './random.ts'
import { unitsOf, type Session, type Subject } from './subjects/subject.ts'

const DELETES_ONE_IN = 5

export interface WritingOptions {
  readonly subject: Subject
  readonly ledger: Ledger
  readonly random: Random
  /** Which writes are durable: so many of 100. */
  readonly durable: number
  onAcknowledged?(): void
}

/** No two writes leave the same, so that a number that is found tells its write. */
let last = 0

/** Lets all writers change their units, each one write after the other, until the service is gone. */
export async function write(session: Session, options: WritingOptions): Promise<void> {
  const { subject, ledger, random, durable, onAcknowledged } = options

  function next({ keys }: Unit): Contents {
    const value = ++last
    const deletes = subject.deletes && keys.length === 1 && random.below(DELETES_ONE_IN) === 0
    return new Map(keys.map((key) => [key, deletes ? undefined : value]))
  }

  async function writer(own: readonly Unit[]): Promise<void> {
    for (;;) {
      const unit = random.one(own)
      const contents = next(unit)
      const isDurable = random.below(100) < durable
      try {
        await ledger.write(unit, contents, isDurable, () => session.write(contents, isDurable))
      } catch {
        return
      }
      onAcknowledged?.()
    }
  }
  await Promise.all(unitsOf(subject).map(writer))
}
