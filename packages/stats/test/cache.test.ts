import { createPublishedCache } from '../src/cache/published.ts'
import type { ToThread } from '../src/messages.ts'
import { parts } from '../src/parts.ts'
import { Poller } from '../src/poller.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { cacheConformance, type CacheTraits, type CreateCache } from './cache.conformance.ts'

const traits: Record<keyof typeof parts.cache, CacheTraits> = {
  none: { uncached: true },
  refresh: { waitsForRound: true },
  lru: {},
}

for (const [name, create] of Object.entries(parts.cache)) {
  const createCache: CreateCache = async (options) => ({ cache: await create(options) })
  cacheConformance(name, createCache, traits[name as keyof typeof traits])
}

/** The poller and one thread's cache, with a bus that is nothing but a call. */
const createPolled: CreateCache = async (options) => {
  let publish: ToThread['publish'] = () => {}
  const poller = new Poller({ ...options, publish: async (updates) => publish(structuredClone(updates)) })
  const bus = {
    call: (name: string, id: string) => (name === 'poll' ? poller.read(id) : poller.readByVideo(id)) as never,
    on: (_name: string, handler: typeof publish) => void (publish = handler),
  }
  const cache = createPublishedCache(bus as never, { meter: QuotaMeter.memory(), replies: poller.replies() })
  await poller.start()
  return { cache, poller }
}
cacheConformance('poller', createPolled)
