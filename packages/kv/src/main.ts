import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { reportLevel } from './gauges.ts'
import type { Shared, ToMain } from './messages.ts'
import type { KvConfig } from './settings.ts'
import { openKvLevel } from './store/level.ts'
import { openRevisions, revisionsMemory } from './store/revisions.ts'
import { freeStripesOf, stripesMemory } from './store/stripes.ts'

type Context = OpenContext<KvConfig, Record<never, never>>

/** Opens what exists once per process: the database, before any thread does, and the memory that they share. */
export async function openKv({ config, registry, log }: Context): Promise<Opened<ToMain>> {
  if (config.store === 'memory') {
    return {
      shared: (): Shared => ({ revisions: revisionsMemory() }),
      handlers: { reserve() {} },
      async close() {},
    }
  }

  const level = await openKvLevel(config.data, config.cacheMegabytes, { log })
  const revisions = await openRevisions(level)
  reportLevel(level, config.cacheMegabytes, registry)
  // One writing thread has its own order, and pays nothing for locks.
  const memory = ['0', '1'].includes(config.threads) ? undefined : stripesMemory()
  let owner = 0
  return {
    shared: (): Shared => ({
      share: level.share(),
      revisions: revisions.memory,
      ...(memory && { stripes: { memory, owner: ++owner } }),
    }),
    threadGone(shared) {
      const { share, stripes } = shared as Shared
      void level.gone(share!)
      if (stripes) freeStripesOf(stripes.memory, stripes.owner)
    },
    handlers: { reserve: revisions.reserve },
    close: () => level.close(),
  }
}
