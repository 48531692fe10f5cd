import { onTestFinished } from 'vitest'
import { CollectionsOwner } from '../../src/campaigns/collections-owner.ts'
import { Overview } from '../../src/campaigns/overview/overview.ts'
import type { Point } from '../../src/core/history-points.ts'
import { DAY_MS } from '../../src/core/quota-budget.ts'
import { sum, type VideoNumbers } from '../../src/core/video-numbers.ts'
import { createSilentLogger } from '../../src/logger/silent.ts'
import { QuotaMeter } from '../../src/quota/quota-meter.ts'
import { Poller } from '../../src/refresh/poller.ts'
import { createMapState } from '../../src/state/map-state.ts'
import { FakeClient } from './fake-client.ts'

/** A poller over a state in memory, and an overview of its rows. */
export async function startOverview(fillRows: (state: ReturnType<typeof createMapState>) => void | Promise<void>) {
  const state = createMapState()
  await fillRows(state)
  const client = new FakeClient()
  client.down = true
  const collections = new CollectionsOwner({
    state,
    retention: 30 * DAY_MS,
    onChange: (id, c) => poller.onCollectionChange(id, c),
  })
  const poller: Poller = new Poller({
    collections,
    client,
    meter: new QuotaMeter(QuotaMeter.createMemory(), 100),
    logger: createSilentLogger(),
    refreshInterval: 3_600_000,
    connections: 4,
    readTimeout: 100,
    publish: async () => {},
  })
  await poller.start()
  onTestFinished(async () => {
    await poller.close()
    await collections.close()
  })
  return { state, collections, overview: new Overview(poller.rows, state) }
}

export const createSnapshot = (videos: readonly VideoNumbers[], asOf = Date.now()) => ({ videos, missing: [], asOf })
export const createPoint = (at: number, videos: readonly VideoNumbers[]): Point => ({ at, ...sum(videos) })
export const firstPage = { limit: 10, withChange: true, sort: 'id' } as const
