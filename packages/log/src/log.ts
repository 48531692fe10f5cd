/** The data of one call of `append` in the log. It is the same on every node. */
export interface LogEntry {
  /**
   * Sequence in the log. Entries that a node sends in one frame share it: usually those of one turn, if they fit into
   * one message.
   */
  readonly seq: number
  /** Time of the log's clock (ms since 1970), which never goes back. A state machine may use no other clock. */
  readonly at: number
  /** Type of the body, 0 to 254. The state machine defines the values. */
  readonly kind: number
  readonly body: Buffer
  /** Value of an `EntryValue` that was appended to a local log. `body` is then empty. */
  readonly value?: unknown
}

/** Body of an entry that is encoded only for a log on servers. A local log passes the value to the state machine. */
export interface EntryValue<T = unknown> {
  readonly value: T
  encode(): Buffer
}

export type EntryBody = Buffer | EntryValue

/** State of the lease: the right to do work that only one node may do at a time. */
export interface LeaseState {
  /**
   * Number that grows with every acquisition, not with a renewal. Entries that require an older term are not applied.
   */
  readonly term: number
  /** Identifier of the holder: random in a cluster, constant in a standalone service. */
  readonly holder: string
  /** Time of expiry by the log's clock (ms since 1970). After it any node may acquire the lease. */
  readonly until: number
}

/**
 * Position of a state machine in the log, with the data that decides which later frames and leases are valid. State
 * machines store it as JSON.
 */
export interface LogPosition {
  /** Identifier of the log. A recreated log has another. */
  readonly epoch: string
  /** Last sequence that is applied. */
  readonly seq: number
  /** Time of the log's clock at `seq` (ms since 1970). */
  readonly at: number
  /** Checksum of the message at `seq`. */
  readonly check: number
  /**
   * Last frame number of each writer and the time of that frame (log's clock). Writers without a frame for an hour are
   * omitted.
   */
  readonly writers: readonly (readonly [id: string, last: number, at: number])[]
  readonly lease?: LeaseState
  /** Earlier logs that this log continues, newest first. */
  readonly ancestors?: readonly LogFork[]
  /**
   * Sequence of the last entry that the state machine has applied, if it is after `seq`: the process ended within a
   * batch.
   */
  readonly partialSeq?: number
}

/** Position after which another log continues a log. */
export interface LogFork {
  readonly epoch: string
  readonly seq: number
  readonly check: number
}

/** State that a node builds from the log. It must be deterministic: it may use neither a clock nor random values. */
export interface StateMachine {
  /**
   * Returns the position; undefined if the state is empty. An empty state machine starts with the first entry of the
   * log, or with a snapshot if that entry was trimmed.
   */
  getPosition(): LogPosition | undefined
  /**
   * Applies a batch of entries and stores the position atomically with them. Resolves with the outcome of each entry.
   * The log makes one call at a time. After a failed call the log of a cluster passes the same entries again; that of a
   * standalone service rejects the appends with the error.
   * @param position position after these entries
   * @throws FrameError if an entry is damaged or its kind is unknown: this node applies no more entries
   */
  apply(entries: readonly LogEntry[], position: LogPosition): Promise<unknown[]>
  /**
   * True if no client of the state machine waits for new entries. Then the log may pass the entries of other nodes some
   * ms later, in larger batches. Without this method, the log passes them at once.
   */
  canLag?(): boolean
  /**
   * Yields a consistent snapshot of the whole state with its position, as of the first chunk.
   * @param onPosition called with the position before the first chunk, unless the state is empty
   */
  snapshot(onPosition?: (position: LogPosition) => void): AsyncIterable<Buffer>
  /** Replaces the whole state by a snapshot. Stores the position last, so that an incomplete snapshot is never used. */
  restore(chunks: AsyncIterable<Buffer>): Promise<void>
}

/** Result of an append. */
export interface AppendResult<T> {
  /** Sequence of the entry. */
  readonly seq: number
  /** Outcome that `apply` of this node's state machine returned for the entry. */
  readonly outcome: T
}

/** Bounds of the difference between the log's clock (ms since 1970) and `steadyNow` (ms). */
export interface ClockOffsets {
  readonly min: number
  readonly max: number
}

/** Position up to which this node has read and applied the log, and its knowledge of the log's clock. */
export interface LogState {
  /** Last sequence that this node has applied. */
  readonly applied: number
  /** Last sequence that is known to exist. */
  readonly known: number
  /** Last time at which this node is known to have had all entries of the log (ms of `steadyNow`). */
  readonly lastContactAt: number
  /** Bounds of the log's clock, relative to `steadyNow`. */
  readonly clockOffsets: ClockOffsets
}

/** Ordered log of writes. */
export interface Log {
  /** Identifier of the log, equal on all its nodes. A recreated log has another. */
  readonly epoch: string
  readonly state: LogState
  /**
   * Appends an entry. Resolves when this node has applied it. Entries in one frame share a sequence: usually those of
   * one turn of the event loop, if they fit into one message.
   * @param waiters number of clients that wait for the entry; by default 1
   * @throws LOG_UNAVAILABLE: the entry has no effect, now or later; OUTCOME_UNKNOWN: it may still be applied;
   * RangeError: it is too large; in a standalone service, the error of `StateMachine.apply`
   */
  append<T>(kind: number, body: EntryBody, waiters?: number): Promise<AppendResult<T>>
  /**
   * Waits until this node has applied every entry that the log stored before the call, from any node. Resolves with a
   * sequence that includes them.
   * @param waiters as in `append`
   * @throws LOG_UNAVAILABLE, also if the outcome is unknown: a barrier changes nothing
   */
  barrier(waiters?: number): Promise<number>
  /**
   * Resolves once this node has applied `seq`.
   * @throws SEQUENCE_WAIT_TIMEOUT after `timeout` ms; LOG_UNAVAILABLE if the log is closed first
   */
  waitForSequence(seq: number, timeout: number): Promise<void>
  /**
   * Competes with the other nodes for the log's only lease, and renews it, until the result is closed.
   * @param ttl time without a renewal until it expires (ms)
   */
  openLease(ttl: number): Lease
  /**
   * Stores a snapshot of this node's state where all nodes can load it. Resolves with its sequence.
   * @throws LOG_UNAVAILABLE
   */
  snapshot(): Promise<number>
  /** Returns the sequence of the newest snapshot; undefined if there is none. @throws LOG_UNAVAILABLE */
  getLatestSnapshot(): Promise<number | undefined>
  /** Removes the entries before `upTo`; the entry at `upTo` remains. @throws LOG_UNAVAILABLE */
  trim(upTo: number): Promise<void>
  /**
   * Releases the lease and stops the log. In a cluster it rejects the waiting calls; a standalone service completes its
   * appends. Idempotent.
   */
  close(): Promise<void>
}

/** Participation of this node in the competition for the lease, which one node at a time holds. */
export interface Lease {
  /**
   * Term of this node's lease; undefined unless it holds the lease. The TTL counts from before the request, so this
   * node never holds it longer than the log grants it.
   */
  readonly term: number | undefined
  /**
   * Same as `Log.append`, but the entry has no effect if the lease is acquired again before the entry is applied.
   * Throws at once, and sends nothing, unless this node holds the lease.
   * @throws LEASE_LOST, and the errors of `Log.append`
   */
  append<T>(kind: number, body: EntryBody): Promise<AppendResult<T>>
  /** Resolves once this node holds the lease. @throws LOG_UNAVAILABLE if `close` is called first */
  waitUntilHeld(): Promise<void>
  /** Resolves once this node does not hold the lease. */
  waitUntilLost(): Promise<void>
  /** Releases the lease, so that other nodes need not wait until it expires. Idempotent. */
  close(): Promise<void>
}
