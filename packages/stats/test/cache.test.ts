import type { StatsThreadMessage } from '../src/messages.ts'
import { parts } from '../src/parts.ts'
import { Poller } from '../src/refresh/poller.ts'
import { testCache, type CacheTraits, type CreateCache } from './cache.conformance.ts'

const traits: Record<keyof typeof parts.cache, CacheTraits> = {
  none: { uncached: true },
  refresh: { waitsForRound: true },
  lru: {},
  poller: {},
}

/** The poller and one thread's cache, with a bus that only makes calls. */
const openUpstream = () => Promise.reject(new Error('this cache asks nobody'))

const createPolled: CreateCache = async (options) => {
  let publish: StatsThreadMessage['publish'] = () => {}
  const poller = new Poller({
    ...options,
    connections: 4,
    readTimeout: 5_000,
    publish: async (updates) => publish(structuredClone(updates)),
  })
  const bus = {
    call: (name: string, id: string) =>
      (name === 'poll' ? poller.reads.read(id) : poller.reads.readNumbers(id)) as never,
    on: (_name: string, handler: typeof publish) => void (publish = handler),
  }
  const published = { bus: bus as never, replies: poller.replyTable.getReplies(), meter: options.meter }
  const cache = await parts.cache.poller({ published, openUpstream })
  await poller.start()
  return { cache, poller }
}

for (const [name, create] of Object.entries(parts.cache)) {
  const createCache: CreateCache = async (options) => ({
    cache: await create({
      published: { bus: {} as never, replies: [], meter: options.meter },
      openUpstream: async () => options,
    }),
  })
  testCache(name, name === 'poller' ? createPolled : createCache, traits[name as keyof typeof traits])
}
