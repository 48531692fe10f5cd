/** One change, as every node sees it. */
export interface LogEntry {
  /** Its place in the log; entries that were appended in one turn share it. */
  readonly seq: number
  /** The log's clock (ms since 1970), which never goes back: what a view may know of time. */
  readonly at: number
  /** What the body is: the view's own numbering, 0 to 254. */
  readonly kind: number
  readonly body: Buffer
}

/** Who may do what only one node may do at a time. */
export interface LeaseState {
  /** Counts holders: a frame that carries an older one is not applied. */
  readonly term: number
  readonly holder: string
  /** By the log's clock; from then on anybody may take it. */
  readonly until: number
}

/** How far a view has come, and what it must know to judge what follows. JSON. */
export interface LogPosition {
  /** Which log. */
  readonly epoch: string
  readonly seq: number
  /** The log's clock there. */
  readonly at: number
  /** Checksum of what stands there. */
  readonly check: number
  /** The last number of each node that wrote of late, and when. */
  readonly writers: readonly (readonly [id: string, last: number, at: number])[]
  readonly lease?: LeaseState
}

/** What a node makes of the log. Deterministic: no clock, no randomness of its own. */
export interface StateMachine {
  /** Nothing: it is empty, and wants a snapshot where the log does not begin at its beginning. */
  getPosition(): LogPosition | undefined
  /**
   * Makes a batch of changes, and keeps the position with them: both or neither outlive a crash. Resolves with what
   * became of each entry. One call at a time; after one that failed the same entries come again.
   * @throws FrameError where it does not know what an entry is: this node must not go on
   */
  apply(entries: readonly LogEntry[], getPosition: LogPosition): Promise<unknown[]>
  /**
   * Whether nobody looks at what it has just applied: what others appended may then be applied some ms later, more at once.
   * Without this it never may.
   */
  canLag?(): boolean
  /** All of it, as it is now, with its position. */
  snapshot(): AsyncIterable<Buffer>
  /** Takes the place of whatever is there. The position comes last, so that half of one is none. */
  restore(chunks: AsyncIterable<Buffer>): Promise<void>
}

/** What became of an append. */
export interface AppendResult<T> {
  readonly seq: number
  /** What the own view's `apply` gave for it. */
  readonly outcome: T
}

/** Bounds of the log's clock (ms since 1970) minus `steadyNow` (ms). */
export interface ClockOffsets {
  readonly min: number
  readonly max: number
}

/** How far the own view is. */
export interface LogState {
  /** The last place that the own view has applied. */
  readonly applied: number
  /** The last place that is known to exist. */
  readonly known: number
  /** The own view had all of the log then, as far as anybody could tell (ms of `steadyNow`): how old it is. */
  readonly lastContactAt: number
  /** Bounds of the log's clock. */
  readonly clockOffsets: ClockOffsets
}

/** The one order of changes. */
export interface Log {
  /** Which log: another one has another, on all its nodes. */
  readonly epoch: string
  readonly state: LogState
  /**
   * Resolves when the own view has applied it. What is appended within one turn of the event loop has one place.
   * @param waiters so many clients wait for it; by default one
   * @throws LOG_UNAVAILABLE: it was not sent, and never will be; OUTCOME_UNKNOWN: it may still be applied
   */
  append<T>(kind: number, body: Buffer, waiters?: number): Promise<AppendResult<T>>
  /**
   * Resolves, with its place, once the own view has applied all that was appended by anybody before.
   * @param waiters as in `append`
   * @throws as `append`
   */
  barrier(waiters?: number): Promise<number>
  /** Resolves once the own view has applied so far. @throws SEQUENCE_WAIT_TIMEOUT after `timeout` ms */
  waitForSequence(seq: number, timeout: number): Promise<void>
  /** Takes part in the log's one lease, until that is closed. @param ttl how long a holder may be silent (ms) */
  openLease(ttl: number): Lease
  /** Puts a snapshot of the own view where nodes that have too little find it. Resolves with its place. */
  snapshot(): Promise<number>
  /** The place of the newest one; nothing where there is none. */
  getLatestSnapshot(): Promise<number | undefined>
  /** What is before that place may be thrown away; the place itself stays. */
  trim(upTo: number): Promise<void>
  /** Fails what still waits. Idempotent. */
  close(): Promise<void>
}

/** One holder at a time among all nodes: what only one may do, it does. */
export interface Lease {
  /** Counts holders; nothing while this node is not the one. Judged by its own clock, from before it asked. */
  readonly term: number | undefined
  /** As `Log.append`, and applied only if no other node has become the holder before. @throws LEASE_LOST */
  append<T>(kind: number, body: Buffer): Promise<AppendResult<T>>
  /** Resolves once this node is the holder. @throws LOG_UNAVAILABLE when it is closed before */
  waitUntilHeld(): Promise<void>
  /** Resolves once this node is not the holder, or it is closed. */
  waitUntilLost(): Promise<void>
  /** Gives it up, so that another need not wait. Idempotent. */
  close(): Promise<void>
}
