import { LRUCache } from 'lru-cache'
import type { Faults } from './core/faults.ts'
import { GoogleError } from './core/google-errors.ts'
import { tickOf } from './core/figures.ts'
import { parseCall, type Call } from './core/query.ts'
import { renderError, renderVideos } from './core/render.ts'
import { createReply, type Reply } from './reply.ts'

/** A call and the reply it gets, if its key is good and nothing is made to fail. */
export interface Prepared extends Omit<Call, 'query'> {
  readonly ids: bigint
  readonly reply: Reply
}

interface Entry extends Prepared {
  readonly query: Call['query']
  /** The tick in which the reply is right, and the videos that are gone in it. */
  tick: number
  gone: Gone
  reply: Reply
}

type Gone = Faults['gone']

const MAX_ENTRIES = 20_000
const MAX_BYTES = 64 * 1024 * 1024

function render({ query, pretty }: Call, now: number, gone: Gone): Reply {
  if (query instanceof GoogleError) return createReply(query.status, renderError(query, pretty))
  const { body, etag } = renderVideos(query, now, pretty, gone)
  return createReply(200, body, etag)
}

/**
 * Gives the reply to a query string. The same one within one tick costs a look-up of 0.3 us; parsing and rendering take
 * 9 us for one id and 140 us for 50, where all the rest of a call takes 16 us.
 */
export function createReplies(): (queryString: string, now: number, gone?: Gone) => Prepared {
  const entries = new LRUCache<string, Entry>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    // A query string is kept twice: as the key and within its parsed parts.
    sizeCalculation: ({ reply }, queryString) => 2 * queryString.length + reply.text.length + 1,
  })

  return (queryString, now, gone) => {
    const tick = tickOf(now)
    const known = entries.get(queryString)
    if (known?.tick === tick && known.gone === gone) return known
    if (known) return Object.assign(known, { reply: render(known, now, gone), tick, gone })
    const call = parseCall(queryString)
    const entry: Entry = { ...call, ids: BigInt(call.idCount), tick, gone, reply: render(call, now, gone) }
    entries.set(queryString, entry)
    return entry
  }
}
