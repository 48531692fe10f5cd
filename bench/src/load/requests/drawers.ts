import type { DrawnRequests } from '../load-plan.ts'
import { priceChanges } from './price-changes.ts'
import { priceDrawers } from './searches.ts'
import { getBaseDrawer, kvDrawers } from './kv-entries.ts'
import type { Drawer, ReadyRequest } from './request-bytes.ts'

const drawers: Readonly<Record<string, Drawer>> = { ...kvDrawers, ...priceDrawers, ...priceChanges }

/** Creates the source of random requests. @throws Error if the drawer does not exist */
export function drawRequests(
  { drawer, headers = {}, seed = Math.random() * 2 ** 32 }: DrawnRequests,
  host: string,
): () => ReadyRequest {
  const draw = Object.hasOwn(drawers, drawer) ? drawers[drawer] : getBaseDrawer(drawer)
  if (!draw) throw new Error(`there is no drawer of requests with the name ${drawer}`)
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return draw(lines.join(''), createRandom(seed))
}

/** Creates random numbers from 0 to below 1 by Mulberry32: 5 ns per number and, unlike `crypto`, repeatable. */
export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
