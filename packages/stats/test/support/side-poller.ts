import { onTestFinished, vi } from 'vitest'
import { CollectionsOwner } from '../../src/campaigns/collections-owner.ts'
import type { Collection } from '../../src/core/campaign.ts'
import { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { DAY_MS } from '../../src/core/quota-budget.ts'
import { QuotaMeter } from '../../src/quota/quota-meter.ts'
import { SidePoller } from '../../src/refresh/side/side-poller.ts'
import { createMapState } from '../../src/state/map-state.ts'
import type { PlaylistPage, PlaylistRequest } from '../../src/youtube/playlist-page.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'

export const CHANNEL = 'UC0007000700070007000700'
export const UPLOADS = 'UU0007000700070007000700'
export const source = { type: 'channel' as const, id: CHANNEL }
export const NOW_MS = Date.parse('2026-03-10T12:00:00Z')
export const HOUR_MS = 3_600_000

/** An upload of an hour ago. */
export const createUpload = (id: string, more = {}) => ({
  id,
  publishedAt: new Date(NOW_MS - HOUR_MS).toISOString(),
  ...more,
})
export const found = (videos: object[], more = {}): PlaylistPage =>
  ({ state: 'found', videos, etag: `etag-${videos.length}`, ...more }) as PlaylistPage

/** Runs a side poller on the state `map` with simulated calls and a simulated clock. */
export function setUpSidePoller(state = createMapState()) {
  vi.useFakeTimers({ toFake: ['performance', 'Date'], now: NOW_MS })
  onTestFinished(() => void vi.useRealTimers())
  const requests: PlaylistRequest[] = []
  const channelCalls: (readonly string[])[] = []
  const lines: string[] = []
  const control = {
    reply: (_request: PlaylistRequest): PlaylistPage | Promise<PlaylistPage> => found([]),
    subscribers: 5 as number | undefined,
  }
  const meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
  const collections = new CollectionsOwner({
    state,
    retention: DAY_MS,
    onChange: (id, collection) => {
      if (collection) all.set(id, collection)
      else all.delete(id)
      side.onCollectionChange(id, collection)
    },
  })
  onTestFinished(() => collections.close())
  const all = new Map<string, Collection>()
  const side: SidePoller = new SidePoller({
    caller: {
      async getChannels(ids) {
        channelCalls.push(ids)
        const { subscribers } = control
        const list = ids.map((id) => ({ id, title: 'T', asOf: Date.now(), ...(subscribers && { subscribers }) }))
        return { found: list, unreadable: [] }
      },
      async getPlaylistPage(request) {
        requests.push(request)
        return control.reply(request)
      },
    },
    collections,
    meter,
    logger: { info: (line) => void lines.push(line), error: (line) => void lines.push(line) },
    sourceInterval: 900_000,
  })
  const circuit = new CircuitBreaker()
  const begin = () =>
    side.begin({
      circuit,
      listCollections: () => all.values(),
      getCollection: (id) => all.get(id),
      listVideos: () => [...all.values()].flatMap(({ videos }) => videos),
    })
  /** Does all work that is due after a time (ms). */
  async function run(time = 0): Promise<void> {
    vi.advanceTimersByTime(time)
    for (let works; (works = side.start(steadyNow())).length > 0;) await Promise.all(works)
  }
  const put = (id: string, fields: object = {}) =>
    collections.change('put', id, [], { from: '2026-03-01', sources: [source], ...fields })
  return { state, collections, side, circuit, begin, run, put, all, requests, channelCalls, control, lines, meter }
}
