import { LRUCache } from 'lru-cache'
import { GoogleError } from './core/google-errors.ts'
import { parseCall, type ListCall } from './lists/list-call.ts'
import type { ListResource } from './lists/list-resource.ts'
import { renderError, renderList } from './lists/render-list.ts'
import { toTickStart } from './world/tick.ts'
import type { World } from './world/world.ts'
import { createReply, type EncodedReply } from './encoded-reply.ts'

/** A call, and the reply to it if the API key is valid and no fault is active. */
export interface PreparedCall extends Omit<ListCall, 'query'> {
  /** Number of requested ids, as the bigint that `Meter.count` takes. */
  readonly ids: bigint
  readonly reply: EncodedReply
}

interface CachedCall extends PreparedCall {
  readonly query: ListCall['query']
  /** Start of the tick in which the reply is valid (ms since 1970). */
  tick: number
  /** The reply is valid only in this world. */
  world: World
  reply: EncodedReply
}

const MAX_ENTRIES = 20_000
const MAX_BYTES = 64 * 1024 * 1024

function render(resource: ListResource<any>, { query, pretty }: ListCall, time: number, world: World): EncodedReply {
  try {
    if (query instanceof GoogleError) throw query
    const { body, etag } = renderList(resource, query, { world, time }, pretty)
    return createReply(200, body, etag)
  } catch (problem) {
    if (!(problem instanceof GoogleError)) throw problem
    return createReply(problem.status, renderError(problem, pretty))
  }
}

/**
 * Creates a cache of the replies of a resource by query string. A reply is valid for one tick (10 s: see `TICK_MS`) and
 * until a control route changes the world. A hit costs 0.3 us; parsing and rendering cost 9 us for one id and 140 us for
 * 50.
 */
export function createReplyCache(
  resource: ListResource<any>,
): (queryString: string, now: number, world: World) => PreparedCall {
  const entries = new LRUCache<string, CachedCall>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    // A query string is stored twice: as the key and within its parsed parts.
    sizeCalculation: ({ reply }, queryString) => 2 * queryString.length + reply.plain.body.length + 1,
  })

  return (queryString, now, world) => {
    const tick = toTickStart(now)
    const cached = entries.get(queryString)
    if (cached?.tick === tick && cached.world === world) return cached
    if (cached) return Object.assign(cached, { reply: render(resource, cached, now, world), tick, world })
    const call = parseCall(resource, queryString)
    const reply = render(resource, call, now, world)
    const entry: CachedCall = { ...call, ids: BigInt(call.idCount), tick, world, reply }
    entries.set(queryString, entry)
    return entry
  }
}
