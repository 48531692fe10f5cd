/** A change, equal on every node. */
export interface LogEntry {
  /** Sequence in the log. Entries that a node appends in one turn share it. */
  readonly seq: number
  /** Time of the log's clock (ms since 1970), which never goes back. A state machine may use no other clock. */
  readonly at: number
  /** Type of the body, 0 to 254. The state machine defines the values. */
  readonly kind: number
  readonly body: Buffer
}

/** The right to do work that only one node may do at a time. */
export interface LeaseState {
  /** Number of the holder. Entries with an older term are not applied. */
  readonly term: number
  readonly holder: string
  /** Time of expiry by the log's clock (ms since 1970). After it any node may acquire the lease. */
  readonly until: number
}

/** Position of a state machine in the log, with the data by which it evaluates later entries. JSON. */
export interface LogPosition {
  /** Identifier of the log. */
  readonly epoch: string
  readonly seq: number
  /** Time of the log's clock at `seq` (ms since 1970). */
  readonly at: number
  /** Checksum of the message at `seq`. */
  readonly check: number
  /** Last frame number and its time, for each writer that was active recently. */
  readonly writers: readonly (readonly [id: string, last: number, at: number])[]
  readonly lease?: LeaseState
}

/** State that a node builds from the log. It must be deterministic: it may use neither a clock nor random values. */
export interface StateMachine {
  /** Returns the position; undefined if the state is empty. It then needs a snapshot if the log was trimmed. */
  getPosition(): LogPosition | undefined
  /**
   * Applies a batch of entries and stores the position atomically with them. Resolves with the outcome of each entry.
   * There is one call at a time. After a failed call the same entries are passed again.
   * @throws FrameError if the type of an entry is unknown: this node must stop
   */
  apply(entries: readonly LogEntry[], getPosition: LogPosition): Promise<unknown[]>
  /**
   * True if no client observes the latest entries. Entries of other nodes may then be applied some ms later, in larger
   * batches. Without this method they are applied at once.
   */
  canLag?(): boolean
  /** Yields a consistent snapshot of the whole state with its position. */
  snapshot(): AsyncIterable<Buffer>
  /** Replaces the whole state. The position is stored last, so that an incomplete snapshot is never used. */
  restore(chunks: AsyncIterable<Buffer>): Promise<void>
}

/** Result of an append. */
export interface AppendResult<T> {
  readonly seq: number
  /** Outcome that `apply` of this node's state machine returned for the entry. */
  readonly outcome: T
}

/** Bounds of the log's clock (ms since 1970) minus `steadyNow` (ms). */
export interface ClockOffsets {
  readonly min: number
  readonly max: number
}

/** State of this node's copy of the log. */
export interface LogState {
  /** Last sequence that this node has applied. */
  readonly applied: number
  /** Last sequence that is known to exist. */
  readonly known: number
  /** Last time at which this node had applied all known entries (ms of `steadyNow`). */
  readonly lastContactAt: number
  /** Bounds of the log's clock. */
  readonly clockOffsets: ClockOffsets
}

/** Totally ordered log of changes. */
export interface Log {
  /** Identifier of the log, equal on all its nodes. A recreated log has another. */
  readonly epoch: string
  readonly state: LogState
  /**
   * Resolves when this node has applied the entry. Entries of one turn of the event loop share a sequence.
   * @param waiters number of clients that wait for it; by default 1
   * @throws LOG_UNAVAILABLE: it was not sent and never will be; OUTCOME_UNKNOWN: it may still be applied
   */
  append<T>(kind: number, body: Buffer, waiters?: number): Promise<AppendResult<T>>
  /**
   * Resolves once this node has applied all earlier entries of all nodes. Returns the sequence of the barrier.
   * @param waiters as in `append`
   * @throws as `append`
   */
  barrier(waiters?: number): Promise<number>
  /** Resolves once this node has applied `seq`. @throws SEQUENCE_WAIT_TIMEOUT after `timeout` ms */
  waitForSequence(seq: number, timeout: number): Promise<void>
  /** Competes for the log's only lease until it is closed. @param ttl time without a renewal until it expires (ms) */
  openLease(ttl: number): Lease
  /** Stores a snapshot of this node's state where all nodes can load it. Resolves with its sequence. */
  snapshot(): Promise<number>
  /** Returns the sequence of the newest snapshot; undefined if there is none. */
  getLatestSnapshot(): Promise<number | undefined>
  /** Removes the entries before `upTo`; the entry at `upTo` remains. */
  trim(upTo: number): Promise<void>
  /** Rejects the waiting calls. Idempotent. */
  close(): Promise<void>
}

/** Mutual exclusion among all nodes: one holder at a time. */
export interface Lease {
  /** Number of the holder; undefined unless this node holds the lease. The TTL counts from before the request. */
  readonly term: number | undefined
  /** Same as `Log.append`, but applied only if no other node acquired the lease before. @throws LEASE_LOST */
  append<T>(kind: number, body: Buffer): Promise<AppendResult<T>>
  /** Resolves once this node holds the lease. @throws LOG_UNAVAILABLE if it is closed before */
  waitUntilHeld(): Promise<void>
  /** Resolves once this node does not hold the lease, or it is closed. */
  waitUntilLost(): Promise<void>
  /** Releases the lease, so that other nodes need not wait until it expires. Idempotent. */
  close(): Promise<void>
}
