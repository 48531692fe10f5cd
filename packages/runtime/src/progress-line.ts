/** One line that shows the progress of a long task. */
export interface ProgressLine {
  /**
   * Shows the progress.
   * @param text description of the current step and its progress
   * @param share completed part of the whole (0 to 1), if known
   */
  update(text: string, share?: number): void
  end(): void
}

const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 5_000
const BAR_CHARACTERS = 30

/**
 * Creates a progress line. On a terminal, it is redrawn. Otherwise a line is printed at most every five seconds, and at
 * the end.
 */
export function createProgressLine(output: NodeJS.WriteStream): ProgressLine {
  const intervalMs = output.isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS
  let drawnAt = Date.now()
  let line = ''

  function draw(): void {
    output.write(output.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }

  return {
    update(text, share) {
      line = share === undefined ? text : `${renderBar(Math.min(1, share))} ${text}`
      if (Date.now() - drawnAt < intervalMs) return
      drawnAt = Date.now()
      draw()
    },
    end() {
      if (line === '') return
      draw()
      if (output.isTTY) output.write('\n')
    },
  }
}

function renderBar(share: number): string {
  const filled = Math.round(share * BAR_CHARACTERS)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_CHARACTERS - filled)}]`
}
