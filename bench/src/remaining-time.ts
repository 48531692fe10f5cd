import { computeMedian } from './statistics.ts'

/** A step of a run: one round of a row, with the start of its target. */
export interface RunStep {
  /** Name of the row and its table. */
  readonly row: string
  /** True if the round also measures latencies. It then takes longer. */
  readonly isPaced: boolean
}

/** Assumed duration of a step with latencies as a multiple of one without, until both were measured. */
const PACED_FACTOR = 1.4

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/**
 * Estimates the remaining time of a run. A step takes as long as an earlier one of the same row; otherwise as long as in
 * the published run, adapted to the speed of this one; otherwise as long as the other steps. All times are in seconds.
 */
export class RemainingTime {
  readonly #published: ReadonlyMap<string, number>
  readonly #measured: (RunStep & { readonly seconds: number })[] = []
  #left: readonly RunStep[]

  /**
   * @param steps all steps of the run
   * @param published mean duration of a step of each row in the published run, by `RunStep.row`
   */
  constructor(steps: readonly RunStep[], published: ReadonlyMap<string, number> = new Map()) {
    this.#left = steps
    this.#published = published
  }

  /** Records the duration of a step. */
  finishStep(step: RunStep, seconds: number): void {
    this.#measured.push({ ...step, seconds })
    const index = this.#left.findIndex(({ row, isPaced }) => row === step.row && isPaced === step.isPaced)
    this.#left = this.#left.filter((_, i) => i !== index)
  }

  /** Omits the steps of a row that failed. */
  skipRow(row: string): void {
    this.#left = this.#left.filter((step) => step.row !== row)
  }

  /** Returns the estimate; undefined as long as nothing is known. */
  getSeconds(): number | undefined {
    const left = this.#left
    const scale = this.#getScale()
    const estimates = left.map((step) => this.#estimate(step, scale))
    const known = estimates.filter((value) => value !== undefined)
    if (known.length === 0) return left.length === 0 ? 0 : undefined
    return (sum(known) / known.length) * left.length
  }

  /** Speed of this run: measured durations as a multiple of the published ones. */
  #getScale(): number {
    const pairs = this.#measured.flatMap(({ row, seconds }) => {
      const published = this.#published.get(row)
      return published === undefined ? [] : [seconds / published]
    })
    return pairs.length > 0 ? computeMedian(pairs) : 1
  }

  #estimate({ row, isPaced }: RunStep, scale: number): number | undefined {
    const ofRow = this.#measured.filter((one) => one.row === row)
    const same = ofRow.filter((one) => one.isPaced === isPaced)
    if (same.length > 0) return sum(same.map(({ seconds }) => seconds)) / same.length
    if (ofRow.length > 0) return ofRow[0]!.seconds * (isPaced ? PACED_FACTOR : 1 / PACED_FACTOR)
    const published = this.#published.get(row)
    if (published !== undefined) return published * scale
    const all = this.#measured.map(({ seconds }) => seconds)
    return all.length > 0 ? sum(all) / all.length : undefined
  }
}
