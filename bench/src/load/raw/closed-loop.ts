import type { Connection, Loop } from './loop.ts'
import type { ReadyRequest } from '../requests/request-bytes.ts'
import type { Tally } from '../common/tally.ts'

const NONE: readonly ReadyRequest[] = []

/** Each connection sends when it has its reply, until the window ends; or `pipeline` at once, when it has all of theirs. */
export function createClosedLoop(next: () => ReadyRequest, pipeline = 1): Loop {
  let counts: Tally | undefined
  let under = 0

  function send(connection: Connection, now: number): void {
    if (counts === undefined || now >= counts.until) return
    under += pipeline
    connection.send(next(), now, pipeline === 1 ? NONE : Array.from({ length: pipeline - 1 }, next))
  }

  return {
    idle: send,
    answered(begin, now, right) {
      under--
      counts!.answered(begin, now, right)
    },
    lost(begin) {
      under--
      counts!.lost(begin)
    },
    // A request that could not even be begun.
    failed: (now) => counts?.lost(now),
    start(connections, tally, now) {
      counts = tally
      for (const connection of connections) if (connection.idle) send(connection, now)
    },
    outstanding: () => under,
    abandon(connections, now) {
      for (const { waitingSince, outstanding } of connections) {
        for (let i = 0; i < outstanding; i++) counts!.unanswered(waitingSince!, now)
      }
    },
  }
}
