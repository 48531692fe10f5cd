/** Why another program or the source is ahead in a row, and what is done about it. */
export interface Reason {
  readonly cause: string
  /** The current work on it; `none` with its reason if there is none. */
  readonly work: string
}

/** Reason of a row that has none yet. A test checks that no report contains it. */
export const UNKNOWN_REASON: Reason = { cause: 'unknown', work: 'to find the cause' }

/** Reasons by patterns of the titles of rows. */
const REASONS: readonly (readonly [of: RegExp, reason: Reason])[] = [
  [
    / bare node:net$/,
    {
      cause:
        'The bare server parses nothing, evaluates nothing and writes the same bytes at each read: the lower bound of any server on Node.',
      work: 'None: it is a bound, not an alternative.',
    },
  ],
  [
    / nginx with open_file_cache$/,
    {
      cause:
        'nginx sends a prepared reply from C. Ours finds the reply of the request in JavaScript, checks that it is current, computes its age, and counts it.',
      work: 'None: a cached reply costs what its checks cost.',
    },
  ],
  [
    /^kv\/limits: .* \/ bare (GET with getSync|PUT with batches)$/,
    {
      cause:
        'The bare server uses LevelDB in the same way, but it checks nothing and sends the same bytes: the difference is the code of kv.',
      work: 'None: the checks are what a service must do.',
    },
  ],
  [
    /^kv\/.*\/ bare (GET|PUT)/,
    {
      cause: 'The bare server looks up and stores no data: the difference is LevelDB.',
      work: 'A GET of a base in memory costs as much as that of the bare server (`kv/server-adapters`); the rest is LevelDB.',
    },
  ],
  [
    /^cluster\/.*\/ NATS KV, (1|16) /,
    {
      cause:
        'A client of NATS KV calls a server directly. A write to kv takes an HTTP request, a message to the main thread and a frame of the log, which every node applies. Many writes at once share a frame; then kv is better.',
      work: 'None: durable and ordered writes need the log. Many writes at once are the case that it is built for.',
    },
  ],
  [
    /^cluster\/.*\/ etcd, (1|16) /,
    {
      cause:
        'The peer runs three processes. Ours runs six: the servers of the log and the nodes. Each wakes up for a single write.',
      work: 'None, as for NATS KV.',
    },
  ],
  [
    /^stats\/read: v[13] \/ the source$/,
    {
      cause:
        'An answer makes three calls to the stand-in for YouTube, which shares a processor with the generator. The open loop polls the clock, so each call waits for the processor.',
      work: 'None: v4 and later do not call YouTube for an answer.',
    },
  ],
  [
    /^stats\/read: v2 \/ the source$/,
    {
      cause:
        'An answer makes three calls by `fetch` of Node. v3 replaces it and serves more requests/s than the source.',
      work: 'None: v3 replaces it.',
    },
  ],
  [
    /^stats\/(read: v5|source: v1, empty collection) \/ the source$/,
    {
      cause:
        'Our latencies count from the intended start, in an open loop. Theirs are of a closed loop, which sends nothing while the server is slow. Requests/s of one connection depend on the round trip of the machine.',
      work: 'None: both loads are published beside each other.',
    },
  ],
  [
    /^stats\/far: .* \/ the source$/,
    {
      cause:
        'Three sequential calls of 120 ms take 360 ms on any machine. A round of 1.5 s ends before the fifth reply of each connection, so the rate does not count it.',
      work: 'None: the number follows from the delay.',
    },
  ],
  [
    /^sse\/connections: .* \/ the source$/,
    {
      cause:
        'The value is that of the busiest second, which runs code that is not compiled yet. With 1,000 streams and more the value of this project is lower.',
      work: 'None: it is the busiest second of a start.',
    },
  ],
  [
    /^kv\/rates: PUT, empty base, .* \/ the source$/,
    {
      cause:
        'The search ends at the first rate at which 2 % of the replies of one round are missing. In `kv/paced` kv sustains the 9,000/s of the source, at a lower p99.',
      work: 'None: the rate of the source is sustained.',
    },
  ],
  [
    /^kv\/scarce: GET, .* \/ the source$/,
    {
      cause:
        'LevelDB maps its tables, so a GET of a page that is not in memory is a page fault. Linux then reads up to the read-ahead of the disk: 3.8 MB for a block of 4 KB on this machine, 60 KB with a read-ahead of 128 KB, and 5 KB with `MADV_RANDOM`.',
      work: 'The documentation states the read-ahead to set. LevelDB has no option for it.',
    },
  ],
  [
    /^prices\/.*, 1 connection \/ the source$/,
    {
      cause:
        'One request at a time measures the round trip between two processes: that of Go and wrk on their machine. A bare `node:http` server with a constant reply takes longer than prices.',
      work: 'None: the floor is the round trip.',
    },
  ],
  [
    /^prices\/percentiles: map, 20 connections \/ the source$/,
    {
      cause:
        'Searches by maps wait for the one serving thread. The server of the source has two processors. On 1 connection prices is better.',
      work: 'None: `map` is kept for comparison only; the default is `roaring`.',
    },
  ],
  [
    /^prices\/memory: memory, map \/ the source$/,
    {
      cause:
        'Each price of this index is a JavaScript `Map`: 175 of the 227 MB (`prices/storage`). The index serves as a comparison; bitmaps are the default.',
      work: 'None, as the index is kept for comparison only.',
    },
  ],
  [
    /^prices\/memory: lru-level, .* \/ the source$/,
    {
      cause:
        'The source counts only the cache and the index. The measured memory of prices also includes the ids of all prices (7.8 MB) and the caches of LevelDB (3.1 MB), and has a larger index (9.3 MB; that of the source has 3 MB).',
      work: 'None: the ids are needed for exports.',
    },
  ],
]

/** Returns the reason of a row by its title. */
export const findReason = (title: string): Reason => REASONS.find(([of]) => of.test(title))?.[1] ?? UNKNOWN_REASON
