import { generators } from '@influencer-stats/bench/load/generators'
import { PINS } from '@influencer-stats/bench/processes'
import type { Row } from '@influencer-stats/bench/row'
import { setTimeout as delay } from 'node:timers/promises'

/** Until compiled code has settled (s). */
export const WARM_UP = 3
/** What the work may take longer than announced, on a busy machine (s). */
export const MARGIN = 4

/** Does some work once a load that has just begun is warm; gives what came of both. */
export async function workDuring<T, Result>(
  running: Promise<Result>,
  work: () => Promise<T>,
): Promise<[done: T, result: Result]> {
  // Its failure is told below; work that fails first must not leave it unheard.
  running.catch(() => {})
  const begun = delay(WARM_UP * 1000)
  // Whichever comes first: a generator that cannot start must not leave the work waiting for it.
  await Promise.race([begun, running])
  return [await work(), await running]
}

/**
 * Does some work while a server is under the load of a row, from another process, warmed up before.
 *
 * @param seconds how long the work takes
 * @throws Error when a reply was wrong or did not come: what was profiled is not the service at work
 */
export async function underLoad<T>(
  url: string,
  load: Row['load'],
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const generator = await generators.raw()
  const plan = { ...load, url, warmUp: WARM_UP, duration: seconds + MARGIN, pin: PINS.client }
  const [done, { requests, wrong, errors }] = await workDuring(generator.run(plan), work)
  if (requests === 0 || wrong > 0 || errors > 0) {
    throw new Error(`of ${requests} requests ${wrong} were answered wrong and ${errors} not at all`)
  }
  return done
}
