import { isUpstreamWide, type UpstreamFault } from './circuit-breaker.ts'

/** Ids that are tried again together, because their call has failed. */
export interface Failure {
  readonly ids: readonly string[]
  /** How often they failed, one after the other; 0 for those of which it is not known. */
  readonly times: number
  /** When they were tried last, by which they take their turns; once they are tried again before all others. */
  readonly triedAt: number
  /** When they may be tried again. */
  readonly at: number
  /** How many calls had succeeded by then. */
  readonly successes: number
  /** They failed while others succeeded: it is one of them, not YouTube. */
  readonly isSuspect: boolean
}

const MIN_RETRY_DELAY_MS = 1_000
/** After so many failures ids are halved even if no other call has succeeded, where YouTube answered and refused them. */
const MAX_UNSPLIT_RETRIES = 5

/**
 * What has failed, each with a wait of its own that doubles. Ids that fail while others succeed are halved until the one
 * that hurts its neighbours is alone. What failed while nothing succeeded is put together again by the first success.
 */
export class Failures {
  readonly #idsPerCall: number
  #all: Failure[] = []
  #successes = 0

  constructor(idsPerCall: number) {
    this.#idsPerCall = idsPerCall
  }

  /**
   * Ids are halved only where that can find the one at fault: while other calls succeed, and where there are no others.
   * @param longest ids are tried again after this long at the latest (ms)
   * @param isAlone there are no ids that another call could ask for
   * @returns where the ids are now
   */
  add(
    ids: readonly string[],
    before: Failure | undefined,
    fault: UpstreamFault,
    { now, maxDelay, isAlone }: { readonly now: number; readonly maxDelay: number; readonly isAlone: boolean },
  ): Failure[] {
    // A refusal of the whole upstream says nothing about these ids.
    if (isUpstreamWide(fault)) {
      const { times = 1, triedAt = -Infinity, successes = this.#successes, isSuspect = false } = before ?? {}
      return this.#split(ids, ids.length, { times: Math.max(1, times), triedAt, at: now, successes, isSuspect })
    }
    const times = (before?.times ?? 0) + 1
    const at = now + Math.min(MIN_RETRY_DELAY_MS * 2 ** (times - 1), maxDelay)
    const haveOthersSucceeded = this.haveOthersSucceeded(before)
    const isSuspect = haveOthersSucceeded || before?.isSuspect === true
    const isRefused = fault.kind === 'request' || (isAlone && fault.kind === 'server')
    const batchSize =
      haveOthersSucceeded || (isRefused && times > MAX_UNSPLIT_RETRIES) ? Math.ceil(ids.length / 2) : ids.length
    const triedAt = times === 1 ? -Infinity : now
    return this.#split(ids, batchSize, { times, triedAt, at, successes: this.#successes, isSuspect })
  }

  /** Whether another call has succeeded since these ids failed last. */
  haveOthersSucceeded(failure: Failure | undefined): boolean {
    return failure !== undefined && failure.times > 0 && this.#successes > failure.successes
  }

  /** Ids that may have been tried before a restart. */
  resume(ids: readonly string[], now: number): Failure[] {
    const unknown = { times: 0, triedAt: -Infinity, at: now, successes: 0, isSuspect: false }
    return this.#split(ids, this.#idsPerCall, unknown)
  }

  /** YouTube answers. @returns where the ids are now that failed because it did not */
  recordSuccess(now: number): Failure[] {
    this.#successes++
    const [suspects, others] = [[] as Failure[], [] as Failure[]]
    for (const one of this.#all) (one.isSuspect || one.times === 0 ? suspects : others).push(one)
    if (others.length === 0) return []
    this.#all = suspects
    const ids = others.flatMap((one) => one.ids)
    const triedAt = Math.min(...others.map((one) => one.triedAt))
    return this.#split(ids, this.#idsPerCall, {
      times: 1,
      triedAt,
      at: now,
      successes: this.#successes - 1,
      isSuspect: false,
    })
  }

  #split(ids: readonly string[], batchSize: number, failure: Omit<Failure, 'ids'>): Failure[] {
    const split: Failure[] = []
    for (let i = 0; i < ids.length; i += batchSize) split.push({ ...failure, ids: ids.slice(i, i + batchSize) })
    this.#all.push(...split)
    return split
  }

  /** Of those that may be tried again, the one that was tried longest ago. */
  getDue(now: number): Failure | undefined {
    let oldest: Failure | undefined
    for (const one of this.#all) if (one.at <= now && !(oldest && oldest.triedAt <= one.triedAt)) oldest = one
    return oldest
  }

  remove(failure: Failure): void {
    this.#all = this.#all.filter((one) => one !== failure)
  }

  /** When the first of them may be tried again. */
  getDueAt(): number {
    return this.#all.reduce((first, { at }) => Math.min(first, at), Infinity)
  }
}
