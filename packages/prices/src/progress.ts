const WIDTH = 30
const EVERY = 100

/** A bar on a terminal; silent elsewhere. */
export interface Progress {
  /** @param done how much is done, 0 to 1 */
  update(done: number): void
  end(): void
}

/** @param out where the bar is drawn: only where that is a terminal */
export function createProgress(label: string, out: NodeJS.WriteStream): Progress {
  let last = 0
  const draw = (done: number) => {
    const filled = Math.round(Math.min(1, done) * WIDTH)
    out.write(`\r${label} [${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${Math.round(done * 100)} %`)
  }
  return {
    update(done) {
      if (!out.isTTY || Date.now() - last < EVERY) return
      last = Date.now()
      draw(done)
    },
    end() {
      if (!out.isTTY) return
      draw(1)
      out.write('\n')
    },
  }
}
