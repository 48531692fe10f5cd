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
    /^kv\/.*\/ bare (GET|PUT|db.put)/,
    {
      cause: 'The bare server looks up and stores no data: the difference is LevelDB.',
      work: 'None: it is a bound, not an alternative.',
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
        'An answer makes three calls to the stand-in for YouTube. Their CPU time fills the one serving thread, on the shared processors of this machine. The source may use all processors of its machine.',
      work: 'None: v4 and later do not call YouTube for an answer.',
    },
  ],
  [
    /^stats\/read: v2 \/ the source$/,
    {
      cause:
        'An answer makes three calls by `fetch` of Node, which costs more than the client of v3. Their CPU time fills the one serving thread, on the shared processors of this machine.',
      work: 'None: v3 replaces it.',
    },
  ],
  [
    /^stats\/source: v1, empty collection \/ the source$/,
    {
      cause:
        'One request at a time measures the round trip, and the CPU time of a request on the shared processors of this machine. The line below the table has their costs.',
      work: 'None: v1 is the reference; v4 and later cost less.',
    },
  ],
  [
    /^stats\/read: v[45] \/ the source$/,
    {
      cause:
        'The shared processors of this machine: a bare `node:http` server with a constant reply also serves fewer requests/s on them than the v4 of the source on its own machine. The line below the table has the costs of this machine.',
      work: 'None: v8 serves most, and its ratios to other servers come from the same machine.',
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
    /^sse\/steady: default \/ nchan$/,
    {
      cause:
        'At this load each delivery is one system call of either program, which costs most of the time. nchan calls it from C, ours from JavaScript. When values come faster, ours sends several with one call: its capacity in this table is several times that of nchan.',
      work: 'None: it is the cost of a call from JavaScript.',
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
    /^kv\/(rates|paced|scarce): .*PUT, .*, 1 connection \/ the source$/,
    {
      cause:
        'One connection sends its next request after the last reply, so its rate is that of the round trip: two wake-ups of a thread and two system calls. The line below the table has their costs on this machine. Many connections share them.',
      work: 'None: 64 connections share the round trip, and sustain a higher rate than the source on one (`kv/rates`).',
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
    /^prices\/source: FindPrice_HTTPClientServer, .* \/ the source$/,
    {
      cause:
        "Client and server run in one thread, so the row adds up the CPU time of Node's HTTP client, of its server, of their system calls and of the search, on a shared processor. The search of one row alone takes less time than that of the source (`FindPrice`).",
      work: 'None: a search costs less than a reply of a bare `node:http` server (`prices/search`).',
    },
  ],
  [
    /^prices\/percentiles: map, 1 connection \/ the source$/,
    {
      cause:
        'A search by maps of a random row takes most of this time (`prices/lookups`), on the shared processors of this machine. For the row that the source times in one process, ours takes less (`FindPrice, map`).',
      work: 'None: `map` is kept for comparison only; the default is `roaring`.',
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
    /^prices\/percentiles: roaring-offering, 20 connections \/ the source$/,
    {
      cause:
        'The shared processors of this machine: a bare `node:http` server with a constant reply serves fewer requests/s than prices. The server of the source has two processors.',
      work: 'None: prices already serves more than that server on the same machine.',
    },
  ],
  [
    /^prices\/percentiles: map, 20 connections \/ the source$/,
    {
      cause: 'Searches by maps wait for the one serving thread. The server of the source has two processors.',
      work: 'None: `map` is kept for comparison only; the default is `roaring`.',
    },
  ],
  [
    /^prices\/memory: memory, map \/ the source$/,
    {
      cause:
        'Each price of this index is a JavaScript `Map`, which takes most of this memory (`prices/storage`). The index serves as a comparison; bitmaps are the default.',
      work: 'None, as the index is kept for comparison only.',
    },
  ],
  [
    /^prices\/memory: lru-level, .* \/ the source$/,
    {
      cause:
        'The source counts only the cache and the index. The measured memory of prices also includes the ids of all prices and the caches of LevelDB; without them it is less than that of the source.',
      work: 'None: the ids are needed for exports.',
    },
  ],
]

/** Returns the reason of a row by its title. */
export const findReason = (title: string): Reason => REASONS.find(([of]) => of.test(title))?.[1] ?? UNKNOWN_REASON
