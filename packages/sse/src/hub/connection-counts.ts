import type { ConnectionCounts } from '../client.ts'
import type { ThreadCount } from '../messages.ts'

/** Maximum topics in the list of `/connections`. It is necessary because clients can create any number of topics. */
export const MAX_LISTED_TOPICS = 1_000

/** Adds the counts of all threads. */
export function summarize(counts: readonly ThreadCount[]): ConnectionCounts {
  const sums = new Map<string, number>()
  for (const { topics } of counts) {
    for (const [topic, streams] of topics) sums.set(topic, (sums.get(topic) ?? 0) + streams)
  }
  const topics = Array.from(sums, ([topic, streams]) => ({ topic, streams }))
    .sort((a, b) => b.streams - a.streams)
    .slice(0, MAX_LISTED_TOPICS)
  const all = counts.reduce((sum, { allTopics }) => sum + allTopics, 0)
  return {
    streams: counts.reduce((sum, { streams }) => sum + streams, 0),
    threads: counts.map(({ thread, streams }) => ({ thread, streams })).sort((a, b) => a.thread - b.thread),
    topics,
    others: topics.reduce((remaining, { streams }) => remaining - streams, all),
  }
}
