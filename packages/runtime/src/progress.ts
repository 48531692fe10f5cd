/** One line that tells how far a long piece of work is. */
export interface Progress {
  /**
   * @param text what is being done, and how much of it has been
   * @param share how much of the whole that is (0 to 1), where it is known
   */
  update(text: string, share?: number): void
  end(): void
}

const EVERY_ON_TERMINAL = 100
const EVERY_ELSEWHERE = 5_000
const WIDTH = 30

/** Redrawn in place on a terminal; elsewhere a line every five seconds, and one at the end. */
export function createProgress(output: NodeJS.WriteStream): Progress {
  const every = output.isTTY ? EVERY_ON_TERMINAL : EVERY_ELSEWHERE
  let drawnAt = Date.now()
  let line = ''

  function draw(): void {
    output.write(output.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }

  return {
    update(text, share) {
      line = share === undefined ? text : `${bar(Math.min(1, share))} ${text}`
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

function bar(share: number): string {
  const filled = Math.round(share * WIDTH)
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`
}
