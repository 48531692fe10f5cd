import { LRUCache } from 'lru-cache'
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
  /** The tick in which the reply is right. */
  tick: number
  reply: Reply
}

const MAX_ENTRIES = 20_000
const MAX_BYTES = 64 * 1024 * 1024

function render({ query, pretty }: Call, now: number): Reply {
  if (query instanceof GoogleError) return createReply(query.status, renderError(query, pretty))
  const { body, etag } = renderVideos(query, now, pretty)
  return createReply(200, body, etag)
}

/**
 * Gives the reply to a query string. The same one within one tick costs a look-up of 0.3 us; parsing and rendering take
 * 9 us for one id and 140 us for 50, where all the rest of a call takes 16 us.
 */
export function createReplies(): (queryString: string, now: number) => Prepared {
  const entries = new LRUCache<string, Entry>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    // A query string is kept twice: as the key and within its parsed parts.
    sizeCalculation: ({ reply }, queryString) => 2 * queryString.length + reply.text.length + 1,
  })

  return (queryString, now) => {
    const tick = tickOf(now)
    const known = entries.get(queryString)
    if (known?.tick === tick) return known
    if (known) {
      known.reply = render(known, now)
      known.tick = tick
      return known
    }
    const call = parseCall(queryString)
    const entry: Entry = { ...call, ids: BigInt(call.idCount), tick, reply: render(call, now) }
    entries.set(queryString, entry)
    return entry
  }
}
