import { RemainingTime, type RunStep } from './remaining-time.ts'

/** Shows the current step and the remaining time of a run. */
export interface Progress {
  /** Begins a step, which ends the one before. */
  begin(step: RunStep, text: string): void
  /** Omits the steps of a row that failed. */
  skipRow(row: string): void
  /** Ends the current step, and clears the line of a terminal for other output. */
  pause(): void
}

/** Formats seconds: `40 s`, or `3 min` from two minutes on. */
export const formatDuration = (seconds: number): string =>
  seconds < 120 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`

/**
 * Shows the progress on one line of a terminal, otherwise on a line per step.
 * @param steps all steps of the run
 * @param published see `RemainingTime`
 */
export function createProgress(
  out: NodeJS.WriteStream,
  steps: readonly RunStep[],
  published?: ReadonlyMap<string, number>,
): Progress {
  const remaining = new RemainingTime(steps, published)
  let count = 0
  let current: { readonly step: RunStep; readonly began: number } | undefined
  function finish(): void {
    if (current) remaining.finishStep(current.step, (performance.now() - current.began) / 1_000)
    current = undefined
  }
  return {
    begin(step, text) {
      finish()
      current = { step, began: performance.now() }
      const seconds = remaining.getSeconds()
      const left = seconds === undefined ? '' : `, about ${formatDuration(seconds)} left`
      const line = `[${++count}/${steps.length}] ${text}${left}`
      out.write(out.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
    },
    skipRow(row) {
      finish()
      remaining.skipRow(row)
    },
    pause() {
      finish()
      if (out.isTTY) out.write('\r\x1b[K')
    },
  }
}
