import type { LogEntry, LeaseState, LogPosition } from '../log.ts'
import { LEASE_KIND, type FrameEntry } from './frame.ts'
import type { SequencedFrame, SkippedMessage } from './frame-assembler.ts'
import { FrameError } from '../errors.ts'

/**
 * Time without a frame after which a writer is removed (ms of the log's clock). A copy of a frame follows within
 * seconds, so the number of the writer's last frame is needed no longer.
 */
export const WRITER_TTL_MS = 3_600_000

/** Decision about an entry of a frame. It is made before the state machine receives the entry. */
export type EntryDecision =
  /** The state machine applies the entry. */
  | { readonly kind: 'applied'; readonly entry: LogEntry }
  /** The entry has no effect, because it belongs to an earlier term of the lease. */
  | { readonly kind: 'fenced' }
  /** The entry is a request for the lease; `lease` is the state after it. */
  | { readonly kind: 'lease'; readonly lease: LeaseState }

/** Request to acquire, renew or release the lease. */
export interface LeaseRequest {
  readonly holder: string
  /** Time until the lease expires without a renewal (ms); 0 releases it. */
  readonly ttl: number
}

export const encodeLease = (request: LeaseRequest): Buffer => Buffer.from(JSON.stringify(request))

/** @throws FrameError `LOG_DAMAGED` */
function parseLease(body: Buffer): LeaseRequest {
  try {
    return JSON.parse(body.toString())
  } catch (error) {
    throw new FrameError('LOG_DAMAGED', (error as Error).message)
  }
}

/** Returns the position before the first entry. */
export const createStartPosition = (epoch: string): LogPosition => ({ epoch, seq: 0, at: 0, check: 0, writers: [] })

/**
 * Makes the decisions that must be equal on every node: which frames count, their times, and the holder of the lease.
 * The same frames from the same position give the same decisions.
 */
export class Sequencer {
  readonly #epoch: string
  readonly #writers: Map<string, readonly [last: number, at: number]>
  #seq: number
  #at: number
  #check: number
  #lease: LeaseState | undefined
  readonly #ancestors: LogPosition['ancestors']

  constructor({ epoch, seq, at, check, writers, lease, ancestors }: LogPosition) {
    this.#epoch = epoch
    this.#seq = seq
    this.#at = at
    this.#check = check
    this.#lease = lease
    this.#ancestors = ancestors
    this.#writers = new Map(writers.map(([id, last, seen]) => [id, [last, seen]]))
  }

  /** Time of the log's clock at the last frame (ms since 1970). */
  get at(): number {
    return this.#at
  }

  /** Identifier of the log, last sequence and checksum of the message there. */
  get identity(): Pick<LogPosition, 'epoch' | 'seq' | 'check'> {
    return { epoch: this.#epoch, seq: this.#seq, check: this.#check }
  }

  getPosition(): LogPosition {
    const writers = Array.from(this.#writers, ([id, [last, at]]) => [id, last, at] as const)
    const lease = this.#lease && { lease: this.#lease }
    const ancestors = this.#ancestors && { ancestors: this.#ancestors }
    return { epoch: this.#epoch, seq: this.#seq, at: this.#at, check: this.#check, writers, ...lease, ...ancestors }
  }

  /**
   * Advances to a frame. A frame counts only if its number is the next one of its writer. So a copy from a retry has no
   * effect, and a frame that follows a lost one has none either.
   * @returns a decision for each entry; undefined if the frame does not count
   */
  acceptFrame(frame: SequencedFrame): EntryDecision[] | undefined {
    const { writer, number, entries } = frame
    this.skipMessage(frame)
    const [last] = this.#writers.get(writer) ?? [0]
    if (number !== last + 1) return undefined
    // This puts the map in the order of the writers' last frames. So `#removeIdleWriters` can stop at the first active
    // writer.
    this.#writers.delete(writer)
    this.#writers.set(writer, [number, this.#at])
    return this.#decideEntries(entries)
  }

  /** Advances over a message without any other effect. */
  skipMessage({ seq, at, check }: SequencedFrame | SkippedMessage): void {
    this.#seq = seq
    // The clocks of servers differ, and the leader may change: a later message may have an earlier time.
    this.#at = Math.max(this.#at, at)
    this.#check = check
    this.#removeIdleWriters()
  }

  #decideEntries(entries: readonly FrameEntry[]): EntryDecision[] {
    return entries.map(({ kind, term, body }): EntryDecision => {
      if (term !== 0 && term !== this.#lease?.term) return { kind: 'fenced' }
      if (kind === LEASE_KIND) return { kind: 'lease', lease: this.#grantLease(parseLease(body)) }
      return { kind: 'applied', entry: { seq: this.#seq, at: this.#at, kind, body } }
    })
  }

  /** Grants the lease if it is free or the requester already holds it; otherwise it remains unchanged. */
  #grantLease({ holder, ttl }: LeaseRequest): LeaseState {
    const { holder: owner, term, until } = this.#lease ?? { holder: '', term: 0, until: 0 }
    const isOwn = owner === holder && until > this.#at
    if (owner === holder && ttl === 0) this.#lease = { term, holder, until: this.#at }
    else if (isOwn || (until <= this.#at && ttl > 0))
      // A new acquisition has a new term, even by the same node: entries with the previous term are fenced.
      this.#lease = { term: isOwn ? term : term + 1, holder, until: this.#at + ttl }
    return this.#lease ?? { term, holder: owner, until }
  }

  #removeIdleWriters(): void {
    for (const [id, [, at]] of this.#writers) {
      if (at > this.#at - WRITER_TTL_MS) return
      this.#writers.delete(id)
    }
  }
}
