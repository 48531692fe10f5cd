import { errors as house } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { beginsItem, isSpace, itemEnd } from './core/items.ts'
import { createRoom } from './core/render.ts'
import { errors } from './errors.ts'
import type { PriceIndex } from './index/index.ts'
import { errorLine, ITEM_ROOM, type Searcher } from './searcher.ts'
import type { View } from './view.ts'

/** The longest item (bytes). */
export const LONGEST_ITEM = 65_536
const CHUNK = 65_536

export interface BulkOptions {
  readonly searcher: Searcher
  readonly view: View
  readonly index: PriceIndex
  /** Called before the first answer is written. */
  readonly begin: () => void
  /** A client that reads nothing for so long is cut off (ms). */
  readonly patience: number
}

/**
 * Answers the items of a request as they come, in their order. Nothing is gathered: a client that does not read makes the
 * request wait. What cannot be split into items ends the answers with one error.
 * @returns whether the request was read to its end
 * @throws Problem where nothing was answered yet, and when the client has left
 */
export async function answerBulk(request: Readable, reply: Writable, options: BulkOptions): Promise<boolean> {
  const { searcher, view, index, begin, patience } = options
  let rest: Buffer = Buffer.alloc(0)
  let out = createRoom(CHUNK + ITEM_ROOM)
  let filled = 0
  let begun = false

  async function flush(): Promise<void> {
    if (!begun) begin()
    begun = true
    if (filled === 0) return
    const more = reply.write(out.bytes.subarray(0, filled))
    out = createRoom(CHUNK + ITEM_ROOM)
    filled = 0
    if (!more) await once(reply, 'drain', { signal: AbortSignal.timeout(patience) })
  }

  /** Answers the whole items in `bytes` and returns how much of it they take. */
  async function answer(bytes: Buffer): Promise<number> {
    let at = 0
    for (;;) {
      while (at < bytes.length && isSpace(bytes[at]!)) at++
      if (at === bytes.length) return at
      if (!beginsItem(bytes[at]!)) throw house.BAD_JSON('an item is not a JSON object')
      let next = searcher.answerUsual(bytes, at, view, index, out, filled)
      if (next >= 0) at = searcher.itemEnd
      else {
        const end = itemEnd(bytes, at)
        if ((end < 0 ? bytes.length : end) - at > LONGEST_ITEM) throw errors.ITEM_TOO_LARGE(`${LONGEST_ITEM} bytes`)
        if (end < 0) return at
        next = searcher.answerItem(bytes.subarray(at, end), view, index, out, filled)
        at = end
      }
      filled = next
      if (filled >= CHUNK) await flush()
    }
  }

  try {
    // A request that is not read to its end is still to be answered.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer)
      rest = bytes.subarray(await answer(bytes))
      // What waits keeps its whole chunk alive otherwise.
      if (rest.length > 0) rest = Buffer.from(rest)
      if (filled > 0) await flush()
    }
    if (rest.length > 0) throw house.BAD_JSON('the request ends in the middle of an item')
  } catch (error) {
    if (!(error instanceof Problem) || !(begun || filled > 0)) throw error
    filled += out.bytes.write(errorLine(error, undefined), filled)
    await flush()
    return false
  }
  await flush()
  return true
}
