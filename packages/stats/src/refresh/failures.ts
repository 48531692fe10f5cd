import { isUpstreamWide, type UpstreamFault } from '../core/circuit-breaker.ts'

/** Ids that are retried together, because their call failed. */
export interface Failure {
  readonly ids: readonly string[]
  /** Number of consecutive failures; 0 for ids from `resume`, whose earlier failures are unknown. */
  readonly times: number
  /**
   * Time of the last try, which determines the order of retries. A call that YouTube refused for all ids is no try.
   * `-Infinity` after the first failure: the first retry goes ahead of all others.
   */
  readonly triedAt: number
  /** Earliest time of the next retry. */
  readonly at: number
  /** Number of calls that had succeeded before these ids failed. */
  readonly successes: number
  /** True if these ids failed while other calls succeeded: one of these ids is at fault, not YouTube. */
  readonly isSuspect: boolean
}

const MIN_RETRY_DELAY_MS = 1_000
/** After more failures than this, a group that YouTube refused is halved even if no other call has succeeded. */
const MAX_UNSPLIT_RETRIES = 5

/**
 * Failed ids, each group with its own delay, which doubles. Ids that fail while others succeed are halved until the id
 * at fault is alone. The first success merges all ids that failed while no call succeeded.
 */
export class Failures {
  readonly #idsPerCall: number
  #all: Failure[] = []
  #successes = 0

  constructor(idsPerCall: number) {
    this.#idsPerCall = idsPerCall
  }

  /**
   * Adds ids whose call failed. They are halved if another call has succeeded since their previous failure, which isolates
   * the id at fault. Without such a success they are halved only after more than `MAX_UNSPLIT_RETRIES` failures: if
   * YouTube refuses this request, or if there are no other ids and the fault is of the kind `server`.
   * @param before the failure that the call retried
   * @param maxDelay maximum delay until the retry (ms)
   * @param isAlone true if there are no ids for another call
   * @returns the new groups of the ids
   */
  add(
    ids: readonly string[],
    before: Failure | undefined,
    fault: UpstreamFault,
    { now, maxDelay, isAlone }: { readonly now: number; readonly maxDelay: number; readonly isAlone: boolean },
  ): Failure[] {
    // A refusal of the whole upstream is not caused by these ids.
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

  /** True if another call has succeeded since the last failure of these ids. */
  haveOthersSucceeded(failure: Failure | undefined): boolean {
    return failure !== undefined && failure.times > 0 && this.#successes > failure.successes
  }

  /** Adds ids that may have been tried before a restart. */
  resume(ids: readonly string[], now: number): Failure[] {
    const unknown = { times: 0, triedAt: -Infinity, at: now, successes: 0, isSuspect: false }
    return this.#split(ids, this.#idsPerCall, unknown)
  }

  /**
   * Records that YouTube responds.
   * @returns the new groups of the ids that failed while YouTube did not respond
   */
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

  /** Returns the failure that was tried longest ago, of those that may be retried now. */
  getDue(now: number): Failure | undefined {
    let oldest: Failure | undefined
    for (const one of this.#all) if (one.at <= now && !(oldest && oldest.triedAt <= one.triedAt)) oldest = one
    return oldest
  }

  remove(failure: Failure): void {
    this.#all = this.#all.filter((one) => one !== failure)
  }

  /** Returns the earliest time of any retry. */
  getDueAt(): number {
    return this.#all.reduce((first, { at }) => Math.min(first, at), Infinity)
  }
}
