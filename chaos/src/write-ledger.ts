/** Contents of keys after a write: a number for each key, `undefined` if the key does not exist. */
export type Contents = ReadonlyMap<string, number | undefined>

interface LedgerWrite {
  readonly contents: Contents
  readonly durable: boolean
  /** Times of the request and of its acknowledgement (s); `acknowledged` is Infinity without an acknowledgement. */
  readonly sent: number
  acknowledged: number
}

/** Keys of one writer. Each write changes all of them, and the next write starts after the last one has ended. */
export interface WriteUnit {
  readonly keys: readonly string[]
}

const MAX_KEY_LENGTH = 60

/** Returns the time in seconds since 1970, to the microsecond. It is comparable with the times of strace. */
export const getSeconds = (): number => (performance.timeOrigin + performance.now()) / 1_000

/** Records writes with their times, and checks the contents after a crash at any moment. */
export class WriteLedger {
  readonly #writes = new Map<WriteUnit, LedgerWrite[]>()

  /** @param found the current contents, which are durable */
  constructor(units: readonly WriteUnit[], found: Contents) {
    for (const unit of units) {
      const contents = new Map(unit.keys.map((key) => [key, found.get(key)]))
      this.#writes.set(unit, [{ contents, durable: true, sent: -Infinity, acknowledged: -Infinity }])
    }
  }

  /** Times of all acknowledgements (s), unordered. */
  get acknowledgements(): number[] {
    return [...this.#writes.values()].flatMap((writes) =>
      writes.slice(1).flatMap(({ acknowledged }) => (acknowledged < Infinity ? [acknowledged] : [])),
    )
  }

  /** Records a write and calls `write` for it. Rejects if `write` rejects. */
  async write(unit: WriteUnit, contents: Contents, durable: boolean, write: () => Promise<unknown>): Promise<void> {
    const entry: LedgerWrite = { contents, durable, sent: getSeconds(), acknowledged: Infinity }
    this.#writes.get(unit)!.push(entry)
    await write()
    entry.acknowledged = getSeconds()
  }

  /**
   * Returns the violations in the contents after a crash. Each unit must hold the content of one write: its last
   * durable write that was acknowledged before the crash, or any later write. All its keys must come from that same
   * write.
   * @param at time of the crash (s)
   * @param requireAll if true, acknowledged writes that are not durable must not be lost either, as after a kill
   * @param coversEarlier if true, an acknowledged durable write also makes all writes durable that were acknowledged
   *   before it was sent
   * @param losesOnlyNewest if true, a write must not be lost if it was acknowledged before a write was sent that
   *   survived
   */
  check(
    found: Contents,
    at: number,
    { requireAll = false, coversEarlier = false, losesOnlyNewest = false } = {},
  ): string[] {
    const violations: string[] = []
    const durable = [...this.#writes.values()].flat().filter((write) => write.durable && write.acknowledged <= at)
    const carriedUntil = coversEarlier ? durable.reduce((last, { sent }) => Math.max(last, sent), -Infinity) : -Infinity
    const isRequired = (write: LedgerWrite) => requireAll || write.durable || write.acknowledged <= carriedUntil
    let latestSurvivorSent = -Infinity
    const allowed = new Map<WriteUnit, number[]>()
    for (const [unit, writes] of this.#writes) {
      const sent = writes.filter((write) => write.sent <= at)
      const lastRequired = sent.findLastIndex((write) => isRequired(write) && write.acknowledged <= at)
      const matching = sent.flatMap(({ contents }, i) =>
        unit.keys.every((key) => contents.get(key) === found.get(key)) ? [i] : [],
      )
      const permitted = matching.filter((i) => i >= lastRequired)
      if (permitted.length === 0)
        violations.push(formatViolation(unit, found, sent[lastRequired]!, matching.length > 0 ? 'lost' : 'incomplete'))
      else {
        allowed.set(unit, permitted)
        latestSurvivorSent = Math.max(latestSurvivorSent, sent[permitted[0]!]!.sent)
      }
    }
    if (losesOnlyNewest) {
      for (const [unit, permitted] of allowed) {
        const writes = this.#writes.get(unit)!
        const before = writes.findLastIndex(({ acknowledged }) => acknowledged <= latestSurvivorSent)
        if (permitted.at(-1)! < before)
          violations.push(formatViolation(unit, found, writes[before]!, 'lost, although a newer write survived'))
      }
    }
    return violations
  }
}

function formatViolation({ keys }: WriteUnit, found: Contents, { contents }: LedgerWrite, kind: string): string {
  const key = keys.find((one) => found.get(one) !== contents.get(one)) ?? keys[0]!
  const name = key.slice(0, MAX_KEY_LENGTH)
  return `${kind}: ${name} is ${found.get(key) ?? 'absent'}, expected ${contents.get(key) ?? 'absent'}`
}
