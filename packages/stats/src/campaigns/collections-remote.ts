import type { Bus } from '@influencer-stats/runtime/channel'
import { threadId } from 'node:worker_threads'
import type { Collections } from './collections.ts'
import type { StatsMainMessage, StatsThreadMessage } from '../messages.ts'
import { READS, type StateReader, type StateReads } from '../state/stats-state.ts'

const mapReads = (toRead: (name: (typeof READS)[number]) => (...args: any[]) => unknown): StateReads =>
  Object.fromEntries(READS.map((name) => [name, toRead(name)])) as never

/** Returns the handlers of the main thread for the reads of its threads. */
export const createReadHandlers = (state: StateReader): StateReads =>
  mapReads(
    (name) =>
      (...args) =>
        (state[name] as (...args: unknown[]) => unknown)(...args),
  )

/** Creates a reader for a state that only the main thread can access. Each read goes to that thread and costs 57 us. */
export const createRemoteReader = (bus: Bus<StatsMainMessage, StatsThreadMessage>): StateReader => ({
  isRemote: true,
  ...mapReads(
    (name) =>
      (...args) =>
        bus.call(name, ...(args as never)),
  ),
})

/** Creates the collections of a serving thread: `state` reads, and the main thread makes the changes. */
export const createRemoteCollections = (
  bus: Bus<StatsMainMessage, StatsThreadMessage>,
  state: StateReader,
): Collections => ({
  state,
  change: (name, id, ...args) => bus.call('change', threadId, name, id, args) as never,
  saveSnapshot: ({ id, revision }, snapshot) => bus.call('saveSnapshot', { id, revision }, snapshot),
  importLines: (lines) => bus.call('importLines', lines),
  saveVideos: (rows) => bus.call('saveVideos', rows),
})
