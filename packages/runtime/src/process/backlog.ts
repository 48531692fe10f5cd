/** The calls for a thread that may still be starting. */
export interface Backlog {
  /** Calls now, or, while the thread's app is being built, later; then nobody waits for it. */
  call(name: string, args: unknown[]): Promise<unknown>
  /** The app is built: makes the calls that came meanwhile, in order, and resolves once all have been answered. */
  release(): Promise<PromiseSettledResult<unknown>[]>
}

/**
 * Keeps what is broadcast between a thread's birth and the moment its app can hear it: without it a thread that starts
 * while values change would serve the old ones for ever.
 */
export function createBacklog(call: (name: string, ...args: unknown[]) => unknown): Backlog {
  let waiting: { name: string; args: unknown[] }[] | undefined = []
  return {
    async call(name, args) {
      if (!waiting) return call(name, ...args)
      waiting.push({ name, args: structuredClone(args) })
      return undefined
    },
    release() {
      const calls = waiting ?? []
      waiting = undefined
      return Promise.allSettled(calls.map(async ({ name, args }) => call(name, ...args)))
    },
  }
}
