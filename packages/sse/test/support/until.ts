import { setTimeout as delay } from 'node:timers/promises'

/** Waits until a condition holds, for what gives no event. The test's own time-out ends it. */
export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await delay(5)
}
