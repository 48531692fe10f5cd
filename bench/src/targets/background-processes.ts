interface Stoppable {
  stop(): Promise<void>
}

const running = new Map<() => Promise<Stoppable>, Promise<Stoppable>>()

/** Returns a process that runs until `stopBackgroundProcesses`. The first call with this `start` starts it. */
export function getBackgroundProcess<T extends Stoppable>(start: () => Promise<T>): Promise<T> {
  const found = running.get(start) as Promise<T> | undefined
  if (found) return found
  const started = start()
  running.set(start, started)
  return started
}

/** Stops all background processes. */
export async function stopBackgroundProcesses(): Promise<void> {
  const all = [...running.values()]
  running.clear()
  await Promise.all(all.map(async (one) => (await one.catch(() => undefined))?.stop()))
}
