import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { reportLevel } from './gauges.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import type { KvConfig } from './settings.ts'
import { duePosition } from './core/own-keys.ts'
import { Expiring, expiryMemory } from './store/expiries.ts'
import { dueIn, openKvLevel } from './store/level.ts'
import { openRevisions, passingRevisions } from './store/revisions.ts'
import { freeStripesOf, stripesMemory } from './store/stripes.ts'
import { LocalFeed } from './watch/local-feed.ts'

export type Context = OpenContext<KvConfig, ToThread>

/** Opens what exists once per process: the database, before any thread does, and the memory that they share. */
export async function openKv(context: Context): Promise<Opened<ToMain>> {
  const { config, registry, log, broadcast } = context
  if (config.log === 'jetstream') return (await import('./node.ts')).openKvNode(context)
  const createFeed = (revisions: SharedArrayBuffer) =>
    new LocalFeed({ revisions, maxBytes: config.watchHistory, settled: () => broadcast('settled') })
  if (config.store === 'memory') {
    const revisions = passingRevisions()
    const feed = createFeed(revisions)
    return {
      shared: (): Shared => ({ revisions, recording: feed.memory, expiring: expiryMemory() }),
      threadGone: () => feed.lost(),
      handlers: { reserve() {}, ...handlersOf(feed), ...NO_LOG },
      close: async () => feed.close(),
    }
  }

  const level = await openKvLevel(config.data, config.cacheMegabytes, { log, watchDisk: true })
  const revisions = await openRevisions(level)
  const feed = createFeed(revisions.memory)
  const expiring = expiryMemory()
  const timed = new Expiring(expiring)
  if ((await dueIn(level.db, duePosition(0), 1)).length > 0) timed.begin()
  reportLevel(level, config.cacheMegabytes, registry)
  // One writing thread has its own order, and pays nothing for locks.
  const memory = ['0', '1'].includes(config.threads) ? undefined : stripesMemory()
  let owner = 0
  return {
    kept: level,
    shared: (): Shared => ({
      share: level.share(),
      revisions: revisions.memory,
      recording: feed.memory,
      expiring,
      ...(memory && { stripes: { memory, owner: ++owner } }),
    }),
    threadGone(shared) {
      const { share, stripes } = shared as Shared
      void level.gone(share!)
      if (stripes) freeStripesOf(stripes.memory, stripes.owner)
      timed.forgetFirstDue()
      // It may have taken revisions, and not told.
      feed.lost()
    },
    handlers: { reserve: revisions.reserve, ...handlersOf(feed), ...NO_LOG },
    async close() {
      feed.close()
      await level.close()
    },
  }
}

const handlersOf = (feed: LocalFeed) => ({
  changes: (...query: Parameters<ToMain['changes']>) => feed.after(...query),
  wrote: (first: number, count: number, writes: Uint8Array) => feed.wrote(first, count, writes),
  lost: () => feed.lost(),
})

function noLog(): never {
  throw new Error('this process has no log')
}

/** What no thread asks for where there is none. */
const NO_LOG = { append: noLog, reached: noLog, barrier: noLog }
