/** Shows the current step and the remaining time: on one line of a terminal, otherwise one line per step. */
export function createProgress(out: NodeJS.WriteStream): {
  step(what: string, step: number, steps: number): void
  end(): void
} {
  const began = performance.now()
  return {
    step(what, step, steps) {
      const seconds = (performance.now() - began) / 1000
      const left = step > 1 ? `, about ${Math.ceil((seconds / (step - 1)) * (steps - step + 1))} s left` : ''
      const line = `[${step}/${steps}] ${what}${left}`
      out.write(out.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
    },
    end() {
      if (out.isTTY) out.write('\r\x1b[K')
    },
  }
}
