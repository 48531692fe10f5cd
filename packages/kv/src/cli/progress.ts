/** One line that tells how far a long piece of work is. */
export interface Progress {
  /** `done` and `total` in bytes; `entries` so far. */
  update(entries: number, done: number, total?: number): void
  end(): void
}

const EVERY_ON_TERMINAL = 100
const EVERY_ELSEWHERE = 5_000
const WIDTH = 30
const MIB = 1_048_576

/** Redrawn in place on a terminal; elsewhere a line every five seconds, and one at the end. */
export function createProgress(verb: string, output: NodeJS.WriteStream): Progress {
  const every = output.isTTY ? EVERY_ON_TERMINAL : EVERY_ELSEWHERE
  const startedAt = Date.now()
  let drawnAt = startedAt
  let line = ''

  function draw(): void {
    output.write(output.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }

  return {
    update(entries, done, total) {
      const seconds = (Date.now() - startedAt) / 1000
      const rate = seconds > 0 ? (done / MIB / seconds).toFixed(1) : '-'
      const filled = total ? Math.round((WIDTH * done) / total) : 0
      const bar = total ? `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ` : ''
      line = `${bar}${verb} ${entries} entries, ${(done / MIB).toFixed(1)} MiB, ${rate} MiB/s`
      if (Date.now() - drawnAt < every) return
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
