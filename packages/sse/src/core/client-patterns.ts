import type { TopicMatcher } from './selectors.ts'

/** A pattern for counting. */
export type PatternKey = Pick<TopicMatcher, 'anchor' | 'source'>

/** Maximum number of different patterns of one client with the same literal start. */
const MAX_PATTERNS = 128
/** The same for a literal start that has `CROWD_SIZE` patterns in total, because every topic with it is tested against each. */
const MAX_PATTERNS_IN_CROWD = 8
const CROWD_SIZE = 1_024

/** Number of streams by pattern. */
type StreamCounts = Map<string, number>

/** Returns the numbers of different patterns by literal start. */
export function countSources(patterns: readonly PatternKey[]): Map<string, number> {
  const sources = new Map(patterns.map(({ anchor, source }) => [source, anchor]))
  const counts = new Map<string, number>()
  for (const anchor of sources.values()) counts.set(anchor, (counts.get(anchor) ?? 0) + 1)
  return counts
}

/** Counts the patterns of each client by their literal start, so that no client uses up the patterns of others. */
export class ClientPatterns {
  /** By literal start and client. */
  readonly #clients = new Map<string, Map<string, StreamCounts>>()

  /**
   * False if these patterns and those of all open streams of the client are too many with one literal start.
   * @param countAll returns the number of different patterns of all clients with a literal start
   */
  canAdd(patterns: readonly PatternKey[], client: string, countAll: (anchor: string) => number): boolean {
    const added = patterns.filter(({ anchor, source }) => !this.#clients.get(anchor)?.get(client)?.has(source))
    return Array.from(countSources(added)).every(([anchor, count]) => {
      const held = this.#clients.get(anchor)?.get(client)?.size ?? 0
      return held + count <= (countAll(anchor) < CROWD_SIZE ? MAX_PATTERNS : MAX_PATTERNS_IN_CROWD)
    })
  }

  add({ anchor, source }: PatternKey, client: string): void {
    let clients = this.#clients.get(anchor)
    if (!clients) this.#clients.set(anchor, (clients = new Map()))
    let counts = clients.get(client)
    if (!counts) clients.set(client, (counts = new Map()))
    counts.set(source, (counts.get(source) ?? 0) + 1)
  }

  delete({ anchor, source }: PatternKey, client: string): void {
    const clients = this.#clients.get(anchor)
    const counts = clients?.get(client)
    const count = counts?.get(source)
    if (!clients || !counts || count === undefined) return
    if (count > 1) return void counts.set(source, count - 1)
    counts.delete(source)
    if (counts.size === 0) clients.delete(client)
    if (clients.size === 0) this.#clients.delete(anchor)
  }
}
