import type { LogEntry, LeaseState, LogPosition } from '../log.ts'
import { LEASE_KIND, type FrameEntry } from './frame.ts'
import type { SequencedFrame } from './frame-assembler.ts'

/** How long a writer may be silent before it is forgotten (ms of the log's clock). Copies of a frame are seconds apart. */
export const WRITER_TTL_MS = 3_600_000

/** What became of one entry of a frame before any view saw it. */
export type EntryDecision =
  | { readonly kind: 'applied'; readonly entry: LogEntry }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'lease'; readonly lease: LeaseState }

/** What asks for the lease, or gives it up (`ttl` 0). */
export interface LeaseRequest {
  readonly holder: string
  /** ms */
  readonly ttl: number
}

export const encodeLease = (request: LeaseRequest): Buffer => Buffer.from(JSON.stringify(request))

/** The position before the first entry. */
export const createStartPosition = (epoch: string): LogPosition => ({ epoch, seq: 0, at: 0, check: 0, writers: [] })

/**
 * What every node decides alike about frames as they come, before its view sees them: whether a frame counts, what its
 * time is, and who holds the lease. Pure: the same frames from the same position give the same.
 */
export class Sequencer {
  readonly #epoch: string
  readonly #writers: Map<string, readonly [last: number, at: number]>
  #seq: number
  #at: number
  #check: number
  #lease: LeaseState | undefined

  constructor({ epoch, seq, at, check, writers, lease }: LogPosition) {
    this.#epoch = epoch
    this.#seq = seq
    this.#at = at
    this.#check = check
    this.#lease = lease
    this.#writers = new Map(writers.map(([id, last, seen]) => [id, [last, seen]]))
  }

  get lease(): LeaseState | undefined {
    return this.#lease
  }

  /** The log's clock. */
  get at(): number {
    return this.#at
  }

  /** Which log this is of, its last place, and the checksum of what stands there. */
  get identity(): Pick<LogPosition, 'epoch' | 'seq' | 'check'> {
    return { epoch: this.#epoch, seq: this.#seq, check: this.#check }
  }

  getPosition(): LogPosition {
    const writers = Array.from(this.#writers, ([id, [last, at]]) => [id, last, at] as const)
    const lease = this.#lease && { lease: this.#lease }
    return { epoch: this.#epoch, seq: this.#seq, at: this.#at, check: this.#check, writers, ...lease }
  }

  /**
   * Goes on to a frame. A frame counts once: if its number is its writer's next. So a copy, which came of a retry, and one
   * whose forerunner was lost change nothing.
   * @returns what became of each entry; nothing where the frame does not count
   */
  acceptFrame({ seq, at, check, writer, number, entries }: SequencedFrame): EntryDecision[] | undefined {
    this.#seq = seq
    // The clocks of servers differ, and one may follow another as the leader.
    this.#at = Math.max(this.#at, at)
    this.#check = check
    this.#forgetIdleWriters()
    const [last] = this.#writers.get(writer) ?? [0]
    if (number !== last + 1) return undefined
    // The one that wrote last stands last.
    this.#writers.delete(writer)
    this.#writers.set(writer, [number, this.#at])
    return this.#decideEntries(entries)
  }

  /** The same for entries that need no frame to count. */
  acceptEntries(seq: number, at: number, entries: readonly FrameEntry[]): EntryDecision[] {
    this.#seq = seq
    this.#at = Math.max(this.#at, at)
    return this.#decideEntries(entries)
  }

  #decideEntries(entries: readonly FrameEntry[]): EntryDecision[] {
    return entries.map(({ kind, term, body }): EntryDecision => {
      if (term !== 0 && term !== this.#lease?.term) return { kind: 'fenced' }
      if (kind === LEASE_KIND) return { kind: 'lease', lease: this.#grantLease(JSON.parse(body.toString())) }
      return { kind: 'applied', entry: { seq: this.#seq, at: this.#at, kind, body } }
    })
  }

  /** Gives the lease to who asks where it is free or already its own; else it stays as it is. */
  #grantLease({ holder, ttl }: LeaseRequest): LeaseState {
    const { holder: owner, term, until } = this.#lease ?? { holder: '', term: 0, until: 0 }
    const isOwn = owner === holder && until > this.#at
    if (owner === holder && ttl === 0) this.#lease = { term, holder, until: this.#at }
    else if (isOwn || (until <= this.#at && ttl > 0))
      // Whoever takes it anew is another holder, also if it is the same node: what it sent before is fenced.
      this.#lease = { term: isOwn ? term : term + 1, holder, until: this.#at + ttl }
    return this.#lease ?? { term, holder: owner, until }
  }

  #forgetIdleWriters(): void {
    for (const [id, [, at]] of this.#writers) {
      if (at > this.#at - WRITER_TTL_MS) return
      this.#writers.delete(id)
    }
  }
}
