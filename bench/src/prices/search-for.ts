import type { LoadResult } from '../load/load.ts'
import { runRight } from '../load/common/run-right.ts'
import { PINS } from '../processes.ts'

const CONNECTIONS = 20

/** Searches in a closed loop. @throws Error unless every reply is right */
export function searchFor(seconds: number, url: string, drawer: string): Promise<LoadResult> {
  const plan = { url, requests: { drawer }, expect: { status: 200 }, connections: CONNECTIONS }
  return runRight({ ...plan, duration: seconds, warmUp: 0, pin: PINS.client })
}
