import { createHash } from 'node:crypto'
import { isPreconditionMet } from '@influencer-stats/runtime/conditions'
import type { WriteCondition } from './write-condition.ts'
import type { Op } from './change-lines.ts'
import { toExpiryKey, toIdempotencyRow, decodeTime } from './internal-keys.ts'
import { getEtag, REVISION_LENGTH, toRevision, toEtag, toStored, getValue } from './stored-value.ts'
import { encodeWrites, type LoggedWrite } from './encode-writes.ts'

/**
 * Outcome of each write: its revision as text, `undefined` if its condition did not hold, or `KEY_REUSED` if its
 * idempotency key belongs to another write.
 */
export type Outcomes = readonly (string | undefined)[]

/** Outcome of a write whose idempotency key belongs to another write. No revision has this text. */
export const KEY_REUSED = ''

// Type of the record of a write with an idempotency key: the byte after the revision. The fingerprint of the write
// follows: see `internal-keys.ts`.
const REFUSED_RECORD = 0
const APPLIED_RECORD = 1

/** Time for which the outcome of a write with an idempotency key is stored (ms). */
export const IDEMPOTENCY_TTL_MS = 3_600_000

/** Change of the expiry time of a key (ms since 1970). `undefined` means that the key does not expire. */
export interface ExpiryChange {
  readonly key: Buffer
  /** Expiry time in the database. */
  readonly before: number | undefined
  /** Expiry time after the writes. */
  readonly after: number | undefined
}

/** Result of the evaluation of writes. */
export interface WriteResult {
  /** Outcomes for the replies. A repeated write has the outcome of the first one. */
  readonly outcomes: Outcomes
  /** Revision of each write that has an effect; `undefined` for a write without one. */
  readonly effects: Outcomes
  /** Time of the last evaluated write (ms since 1970); absent if the evaluation needed no time. */
  readonly at?: number
  /** Expiry changes, by key as text with one character per byte. */
  readonly expiries?: ReadonlyMap<string, ExpiryChange>
  /** Changes of type `expire` for keys without a value; they have no effect. */
  readonly ineffective?: ReadonlySet<Op>
  /** New records of writes with idempotency keys. */
  readonly records?: readonly (readonly [key: Buffer, stored: Buffer])[]
  /**
   * Indexes of the writes whose reply repeats the outcome of an earlier write with the same idempotency key. A durable
   * reply then depends on that earlier write.
   */
  readonly replays?: ReadonlySet<number>
}

/** True if the result has changes or records to store. */
export const hasEffect = ({ effects, records }: WriteResult): boolean =>
  effects.some((revision) => revision !== undefined) || (records !== undefined && records.length > 0)

/** Returns the stored bytes of a key of a user, or of an internal key; `undefined` if there are none. */
export type ReadStored = (key: Buffer) => Buffer | undefined

/**
 * Evaluates writes in their order.
 * @param first number of the first revision; each write takes one
 * @param get reads the stored bytes from before these writes
 * @param isTimed true if stored values may expire
 * @param now clock (ms since 1970)
 */
export function evaluate(
  writes: readonly LoggedWrite[],
  first: number,
  get: ReadStored,
  isTimed: boolean,
  now: () => number = Date.now,
): WriteResult {
  if (!isTimed && !writes.some(({ condition, isSpecial }) => condition || isSpecial))
    return evaluatePlain(writes, first)
  const evaluation = new WriteEvaluation(first, get, isTimed)
  const at = now()
  for (const write of writes) evaluation.evaluate(write, at)
  return evaluation
}

/** Evaluates writes without conditions, expiry or idempotency keys: every write takes effect. */
function evaluatePlain(writes: readonly LoggedWrite[], first: number): WriteResult {
  const outcomes = writes.map((_, i) => toRevision(first + i))
  return { outcomes, effects: outcomes }
}

const toText = (key: Buffer) => key.toString('latin1')

/** Evaluates writes one after the other. Each write sees the effects of the writes before it. */
export class WriteEvaluation implements WriteResult {
  readonly outcomes: (string | undefined)[] = []
  readonly effects: (string | undefined)[] = []
  at = 0
  readonly expiries = new Map<string, ExpiryChange>()
  readonly ineffective = new Set<Op>()
  readonly records: [key: Buffer, stored: Buffer][] = []
  readonly replays = new Set<number>()
  readonly #get: ReadStored
  readonly #isTimed: boolean
  readonly #first: number
  readonly #etags = new Map<string, string | undefined>()
  readonly #recorded = new Map<string, Buffer>()

  /** @param first number of the first revision @param isTimed true if stored values may expire */
  constructor(first: number, get: ReadStored, isTimed: boolean) {
    this.#first = first
    this.#get = get
    this.#isTimed = isTimed
  }

  /** Evaluates the next write. @param at time of the write (ms since 1970) */
  evaluate(write: LoggedWrite, at: number): void {
    this.at = at
    const { idempotencyKey } = write
    if (idempotencyKey === undefined) return this.#addOutcome(this.#computeEffect(write, at))
    const fingerprint = computeFingerprint(write)
    const key = toIdempotencyRow(idempotencyKey)
    const existing = this.#getRecord(key, at)
    if (existing) {
      const outcome = readOutcome(existing, fingerprint)
      if (outcome !== KEY_REUSED) this.replays.add(this.outcomes.length)
      return this.#addOutcome(undefined, outcome)
    }
    const number = this.#first + this.effects.length
    const revision = this.#computeEffect(write, at)
    this.#addOutcome(revision)
    // A refused write is recorded, too: if another copy of the request arrives later, it must also be refused.
    const recordType = Buffer.of(revision === undefined ? REFUSED_RECORD : APPLIED_RECORD)
    const stored = toStored(toRevision(number), Buffer.concat([recordType, fingerprint]))
    this.#recorded.set(toText(key), stored)
    this.records.push([key, stored])
    this.#setExpiry(key, at + IDEMPOTENCY_TTL_MS)
  }

  #addOutcome(effect: string | undefined, outcome = effect): void {
    this.effects.push(effect)
    this.outcomes.push(outcome)
  }

  /**
   * Applies the effects of a write to this evaluation. Returns its revision; `undefined` if its condition does not
   * hold.
   */
  #computeEffect({ ops, condition }: LoggedWrite, at: number): string | undefined {
    // A write without an effect also takes a revision.
    const revision = toRevision(this.#first + this.effects.length)
    if (condition && !this.#matches(condition, ops[0]!.key, at)) return undefined
    for (const op of ops) {
      if (op.type !== 'expire') this.#etags.set(toText(op.key), op.type === 'put' ? toEtag(revision) : undefined)
      else if (this.#getLiveEtag(op.key, at) === undefined) {
        this.ineffective.add(op)
        continue
      }
      this.#setExpiry(op.key, computeExpiry(op, at))
    }
    return revision
  }

  #matches(condition: WriteCondition, key: Buffer, at: number): boolean {
    if (condition.due !== undefined) return this.#getExpiry(key) === condition.due && condition.due <= at
    return isPreconditionMet(condition, this.#getLiveEtag(key, at))
  }

  /** Returns the ETag of a value; `undefined` if the key has none, or if the value has expired at this time. */
  #getLiveEtag(key: Buffer, at: number): string | undefined {
    const expiry = this.#getExpiry(key)
    return expiry !== undefined && expiry <= at ? undefined : this.#getEtag(key)
  }

  #getEtag(key: Buffer): string | undefined {
    const text = toText(key)
    if (this.#etags.has(text)) return this.#etags.get(text)
    const stored = this.#get(key)
    return stored && getEtag(stored)
  }

  #getRecord(key: Buffer, at: number): Buffer | undefined {
    const expiry = this.#getExpiry(key)
    if (expiry === undefined || expiry <= at) return undefined
    return this.#recorded.get(toText(key)) ?? this.#get(key)
  }

  #getExpiry(key: Buffer): number | undefined {
    const existing = this.expiries.get(toText(key))
    return existing ? existing.after : this.#getStoredExpiry(key)
  }

  #getStoredExpiry(key: Buffer): number | undefined {
    const bytes = this.#isTimed ? this.#get(toExpiryKey(key)) : undefined
    return bytes && decodeTime(bytes)
  }

  #setExpiry(key: Buffer, after: number | undefined): void {
    const text = toText(key)
    const existing = this.expiries.get(text)
    const before = existing ? existing.before : this.#getStoredExpiry(key)
    if (existing || before !== undefined || after !== undefined) this.expiries.set(text, { key, before, after })
  }
}

/** Returns the recorded outcome of a write; `KEY_REUSED` if the record belongs to another write. */
function readOutcome(record: Buffer, fingerprint: Buffer): string | undefined {
  const value = getValue(record) as Buffer
  if (!value.subarray(1).equals(fingerprint)) return KEY_REUSED
  return value[0] === APPLIED_RECORD ? record.toString('latin1', 0, REVISION_LENGTH) : undefined
}

function computeExpiry(op: Op, at: number): number | undefined {
  if (op.type === 'del') return undefined
  return op.ttl === undefined ? op.expiresAt : at + op.ttl
}

function computeFingerprint({ ops, condition }: LoggedWrite): Buffer {
  return createHash('sha256')
    .update(encodeWrites([{ ops, ...(condition && { condition }) }]))
    .digest()
    .subarray(0, 16)
}
