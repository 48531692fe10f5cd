/** What a variant's graphs taught. Figures are left to the graphs, which change with every run. */
export interface Lesson {
  /** What the source says of the version that the variant mirrors, where it says something. */
  readonly source?: {
    readonly says: string
    /** Percent of CPU. */
    readonly share?: number
    /** The part of ours that does the like. */
    readonly part: string
  }
  /** Why it is as it is here; without `source` it goes on after "The source". */
  readonly why: string
  /** What to change next. */
  readonly next: string
}

const stats: Readonly<Record<string, Lesson>> = {
  'v1 read': {
    source: { says: '`DefaultLogger` with 70.29 %', share: 70.29, part: 'logger' },
    why:
      'Each line is a system call that is waited for, which makes it the largest single function; but three calls of ' +
      '`fetch` an answer, each with a `Request`, a `Headers` and a web stream of its own, weigh more in sum.',
    next: 'the logger all the same: it is one function, and the smaller change (v2). Then the client (v3).',
  },
  'v2 read': {
    source: { says: '`fetchVideoListResponse` with 19.92 %', share: 19.92, part: 'client' },
    why:
      'The logger is gone from the graph. What the client takes is spread thin over the functions of `fetch`: none of ' +
      'them is worth a change, all of them together are, and most bytes are theirs, too.',
    next: 'the whole client, for one without web streams on the way (v3).',
  },
  'v3 read': {
    source: { says: '`hammock/jvm/Interpreter` with 54.98 %', share: 54.98, part: 'client' },
    why:
      'What `fetch` made around each call is gone. The rest is what three calls over HTTP cost anybody: a request ' +
      'written, a reply parsed, a body read, three times an answer.',
    next: 'not how YouTube is asked but how often: keep the numbers (v4).',
  },
  'v4 read': {
    source: { says: 'the server, "which takes all the CPU time"', part: 'server' },
    why: 'The client has left the graph. The largest piece of what is left is one system call, which sends the reply.',
    next:
      'the way to that call: the router, hooks and validation of Fastify for a route whose answer is ready (v5). Of the ' +
      'bytes, `validateParam` and the ticks of the reply as a stream are the largest that are not the headers.',
  },
  'v5 read': {
    why: 'has no sentence for its fifth version.',
    next:
      "nothing large that is ours: the system call and Node's HTTP remain, in CPU and in bytes. Only a listener without " +
      "`node:http` would be cheaper, and it would owe all of HTTP's manners. What is left to gain is quota and freshness (v6, v7).",
  },
  'v6 read': {
    why: 'has no version like this one.',
    next:
      'the look into LevelDB that every answer from the cache pays for, to see whether the collection has changed: read ' +
      'and parsed each time. Let whoever changes a collection tell the threads instead (v7).',
  },
  'v7 read': {
    why: 'has no version like this one.',
    next:
      "Node's HTTP, for a door that reads the socket's own bytes (v8): as in v5 it is what remains beside the system " +
      'call. Main is idle but for a refresh each 10 s, so polling can grow before it needs a thread of its own.',
  },
  'v8 read': {
    why: "has no version like this one. Node's parser, its request and its response have left the graph.",
    next:
      'nothing large that is ours: the system call that sends the reply is most of what is left, and of the bytes those ' +
      'that Node reads into.',
  },
}

const sse: Readonly<Record<string, Lesson>> = {
  'v4 connecting': {
    why: 'has no graph of it.',
    next:
      "little: the head's write is a system call that every stream needs, and the rest is Node's socket, made and ended. " +
      'What the door itself does, reading a head and checking it, is the smaller part of the work.',
  },
  'v4 fan-out': {
    why: 'has no graph of it.',
    next:
      'nothing above the system call: one write a stream for all that comes within a turn is what is left, and the bytes ' +
      "are Node's own request for each. Only fewer writes would be cheaper, which means later values or a write for " +
      'several sockets, which Node does not have.',
  },
}

const kv: Readonly<Record<string, Lesson>> = {
  'v4 put-full': {
    source: {
      says: '`flush()`, and in it `Storage.load()`, which reads again what is in memory already',
      part: 'store',
    },
    why:
      'Its points, for ours. The load after a flush: LevelDB opens a table once and merges tables in a thread of its own, ' +
      'which no graph of JavaScript shows and CPU a request does. The lock in `flushInBg`: one serving thread takes none, ' +
      'and with several a write holds its key, a word of shared memory, for 0.2 us more; a full queue waits and is bounded. `Request.getPath()` for the log: nothing is logged for an entity, and the ' +
      'id is read from the target as it stands. Copies (`toMemorySegment()`): a value is the Buffer that was received, and ' +
      'is copied once, into the batch that goes to LevelDB.',
    next:
      'the reply: its one system call weighs more than handing a batch to LevelDB, which many puts share. The ETag, a ' +
      'digest of the value, is the largest of the small ones that are ours.',
  },
  'v4 get-full': {
    source: { says: '`MemorySegmentComparator.compare` and, in red, `sendResponse`', part: 'server' },
    why:
      'Its points, for ours. The comparator: LevelDB compares bytes in C++, within the one native call of a look-up, so ' +
      'that it has no frame of its own; the store is all of it. `sendResponse`: here, too, the system call that sends is ' +
      "the largest single function. Allocations: there a `MappedMemorySegment` alone; here the most are of Node's own HTTP.",
    next:
      'nothing large that is ours: the reply is a system call, and the look into LevelDB is one native call. What is left ' +
      "is Node's HTTP, for a door that reads the socket's own bytes (v5).",
  },
}

const prices: Readonly<Record<string, Lesson>> = {
  'v1 search': {
    why:
      'has no graph, but a question: why HTTP adds 77 us to a search by bitmaps and 143 us to one by maps, its code being the ' +
      'same. Here it is so, too: <!--= prices/source: FindPrice_HTTPClientServer, map adds -->?<!--/--> ns and ' +
      '<!--= prices/source: FindPrice_HTTPClientServer, roaring-offering adds -->?<!--/--> ns, client and server in one ' +
      'thread (`source` of `pnpm bench prices --full`). ' +
      'The functions of HTTP are the same in both graphs and in much the same ' +
      'proportions, so none of them does more: each is slower. A search by maps goes through the hash tables of 9,744 rows, ' +
      'megabytes of them, and leaves little of what HTTP needs in the caches of the processor: a bare `node:http` server ' +
      'that reads 4 MB of memory before each reply takes <!--= prices/caches: 4 MB / 0 MB rest -->?<!--/--> times as long for the rest, too (`caches` of `pnpm bench prices --full`).',
    next: 'the search, which is nearly all of it: bitmaps an offering (v4). HTTP then gets faster by itself.',
  },
  'v4 search': {
    why:
      'has no graph of it. What v1 spent on the search is gone, and HTTP costs a third less, though nothing in it has changed ' +
      '(see v1). Of the rest the system call that sends the reply is the largest.',
    next: 'the way to that call: the router and the hooks of Fastify (v6).',
  },
  'v6 search': {
    why:
      "has no graph of it. HTTP is most of a request: one system call sends the reply, and the rest of the server is Node's own " +
      'making of a request and a response. Reading the request, searching and writing the answer are a fifth ' +
      'in sum, and of the bytes next to nothing.',
    next:
      'the reply: as in stats only a listener without ' +
      "`node:http` would make HTTP cheaper, and it would owe all of HTTP's manners.",
  },
  'v6 bulk': {
    why:
      'left its bulk mode unfinished. One request carries the searches of 3,000, so HTTP leaves the graph: what is left is the ' +
      'search, the reader of its request, and, each half as much as that, the writer of its answer and the server.',
    next:
      'the waits for memory, of which the writer has few left since items are answered in groups: a search still follows its ' +
      'offering through half a dozen places, and most of its own time goes to the first look at each.',
  },
}

export const lessons: Readonly<Record<string, Readonly<Record<string, Lesson>>>> = { stats, sse, kv, prices }
