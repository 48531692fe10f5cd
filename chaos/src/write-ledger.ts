/** Contents of keys after a write: a number for each key, `undefined` if the key does not exist. */
export type Contents = ReadonlyMap<string, number | undefined>

interface LedgerWrite {
  readonly contents: Contents
  readonly durable: boolean
  /** Seconds, as `getSeconds` returns them. */
  readonly sent: number
  acknowledged: number
}

/** Keys that only one writer changes, one write after the other, always all together. */
export interface WriteUnit {
  readonly keys: readonly string[]
}

const MAX_KEY_LENGTH = 60

/** Seconds since 1970, to the microsecond: comparable with the times of strace. */
export const getSeconds = (): number => (performance.timeOrigin + performance.now()) / 1_000

/** Records writes with their times, and derives the valid contents after a crash at any moment. */
export class WriteLedger {
  readonly #writes = new Map<WriteUnit, LedgerWrite[]>()

  /** Starts with the present contents, which are durable. */
  constructor(units: readonly WriteUnit[], found: Contents) {
    for (const unit of units) {
      const contents = new Map(unit.keys.map((key) => [key, found.get(key)]))
      this.#writes.set(unit, [{ contents, durable: true, sent: -Infinity, acknowledged: -Infinity }])
    }
  }

  /** Times of acknowledgements, unordered. */
  get acknowledgements(): number[] {
    return [...this.#writes.values()].flatMap((writes) =>
      writes.slice(1).flatMap(({ acknowledged }) => (acknowledged < Infinity ? [acknowledged] : [])),
    )
  }

  /** Makes a write and records it. Rejects as `write` does. */
  async write(unit: WriteUnit, contents: Contents, durable: boolean, write: () => Promise<unknown>): Promise<void> {
    const entry: LedgerWrite = { contents, durable, sent: getSeconds(), acknowledged: Infinity }
    this.#writes.get(unit)!.push(entry)
    await write()
    entry.acknowledged = getSeconds()
  }

  /**
   * Errors in the contents after a crash. Each unit must have the last durable write that was acknowledged, or any
   * later one that was sent; complete.
   * @param plainToo non-durable writes must not be lost either, as after the kill of a process
   * @param carried writes must not be lost that were acknowledged before the send of an acknowledged durable write
   * @param inOrder only the newest may be lost: no write that was acknowledged before a surviving write
   */
  check(found: Contents, at: number, { plainToo = false, carried = false, inOrder = false } = {}): string[] {
    const faults: string[] = []
    const durable = [...this.#writes.values()].flat().filter((write) => write.durable && write.acknowledged <= at)
    const carriedUntil = carried ? durable.reduce((last, { sent }) => Math.max(last, sent), -Infinity) : -Infinity
    const isSure = (write: LedgerWrite) => plainToo || write.durable || write.acknowledged <= carriedUntil
    let horizon = -Infinity
    const allowed = new Map<WriteUnit, number[]>()
    for (const [unit, writes] of this.#writes) {
      const sent = writes.filter((write) => write.sent <= at)
      const sure = sent.findLastIndex((write) => isSure(write) && write.acknowledged <= at)
      const like = sent.flatMap(({ contents }, i) =>
        unit.keys.every((key) => contents.get(key) === found.get(key)) ? [i] : [],
      )
      const fine = like.filter((i) => i >= sure)
      if (fine.length === 0)
        faults.push(formatFault(unit, found, sent[sure]!, like.length > 0 ? 'lost' : 'half written'))
      else {
        allowed.set(unit, fine)
        horizon = Math.max(horizon, sent[fine[0]!]!.sent)
      }
    }
    if (inOrder) {
      for (const [unit, fine] of allowed) {
        const writes = this.#writes.get(unit)!
        const before = writes.findLastIndex(({ acknowledged }) => acknowledged <= horizon)
        if (fine.at(-1)! < before) faults.push(formatFault(unit, found, writes[before]!, 'lost before a newer one'))
      }
    }
    return faults
  }
}

function formatFault({ keys }: WriteUnit, found: Contents, { contents }: LedgerWrite, what: string): string {
  const key = keys.find((one) => found.get(one) !== contents.get(one)) ?? keys[0]!
  const name = key.slice(0, MAX_KEY_LENGTH)
  return `${what}: ${name} is ${found.get(key) ?? 'absent'}, was ${contents.get(key) ?? 'absent'}`
}
