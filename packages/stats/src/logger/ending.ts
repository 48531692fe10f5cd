import { once } from 'node:events'

/** What of a stream of lines has to be known to end it. */
interface Endable extends NodeJS.EventEmitter {
  end(): void
}

/** Ends a stream once, however often it is called; resolves when everything is written. */
export function endingOf(out: Endable): () => Promise<void> {
  let ended: Promise<unknown> | undefined
  return async () => {
    if (!ended) {
      ended = once(out, 'close')
      out.end()
    }
    await ended
  }
}
