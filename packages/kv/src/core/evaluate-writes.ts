import { createHash } from 'node:crypto'
import { isPreconditionMet } from '@influencer-stats/runtime/conditions'
import type { WriteCondition } from './write-condition.ts'
import type { Op } from './change-lines.ts'
import { toExpiryKey, toIdempotencyRow, decodeTime } from './internal-keys.ts'
import { getEtag, REVISION_LENGTH, toRevision, toEtag, toStored, getValue } from './stored-value.ts'
import { encodeWrites, type LoggedWrite } from './encode-writes.ts'

/**
 * Of each write its revision; nothing in the place of one whose condition did not hold, `KEY_REUSED` of one whose
 * idempotency key is that of another.
 */
export type Outcomes = readonly (string | undefined)[]

/** No revision. */
export const KEY_REUSED = ''

// What begins the record of a write with an idempotency key, before its fingerprint.
const REFUSED_RECORD = 0
const APPLIED_RECORD = 1

/** How long the outcome of a write with an idempotency key is known (ms). */
export const IDEMPOTENCY_TTL_MS = 3_600_000

/** When what is under a key expires. */
export interface ExpiryChange {
  readonly key: Buffer
  /** As it is kept; nothing: it does not expire. */
  readonly before: number | undefined
  readonly after: number | undefined
}

/** What writes were judged to be. */
export interface WriteResult {
  /** What who wrote is told. */
  readonly outcomes: Outcomes
  /** The revisions of those that change something. */
  readonly effects: Outcomes
  /** When that was (ms since 1970), where something may expire. */
  readonly at?: number
  /** What changes of when keys expire, by key. */
  readonly expiries?: ReadonlyMap<string, ExpiryChange>
  /** Expiry changes for keys without a value; they have no effect. */
  readonly ineffective?: ReadonlySet<Op>
  /** What is to be known of writes with idempotency keys. */
  readonly records?: readonly (readonly [key: Buffer, stored: Buffer])[]
}

/** Whether anything is to be written of it. */
export const hasEffect = ({ effects, records }: WriteResult): boolean =>
  effects.some((revision) => revision !== undefined) || (records !== undefined && records.length > 0)

/**
 * True if the reply to a write repeats the outcome of an earlier write, because its idempotency key was used before. A durable
 * reply then depends on that earlier write.
 */
export const isReplay = ({ idempotencyKey }: LoggedWrite, index: number, { effects, outcomes }: WriteResult): boolean =>
  idempotencyKey !== undefined && effects[index] === undefined && outcomes[index] !== KEY_REUSED

/** What is kept under a key, be it the service's own. */
export type ReadStored = (key: Buffer) => Buffer | undefined

/**
 * Judges writes as they follow each other.
 * @param isTimed whether something that is kept may expire
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
  const draft = new WriteEvaluation(first, get, isTimed)
  const at = now()
  for (const write of writes) draft.evaluate(write, at)
  return draft
}

/** Each happens. */
function evaluatePlain(writes: readonly LoggedWrite[], first: number): WriteResult {
  const outcomes = writes.map((_, i) => toRevision(first + i))
  return { outcomes, effects: outcomes }
}

const toText = (key: Buffer) => key.toString('latin1')

/** Judges writes one after the other, each by what those before it will have left. */
export class WriteEvaluation implements WriteResult {
  readonly outcomes: (string | undefined)[] = []
  readonly effects: (string | undefined)[] = []
  at = 0
  readonly expiries = new Map<string, ExpiryChange>()
  readonly ineffective = new Set<Op>()
  readonly records: [key: Buffer, stored: Buffer][] = []
  readonly #get: ReadStored
  readonly #isTimed: boolean
  readonly #first: number
  readonly #etags = new Map<string, string | undefined>()
  readonly #recorded = new Map<string, Buffer>()

  /** @param isTimed whether what is kept may expire */
  constructor(first: number, get: ReadStored, isTimed: boolean) {
    this.#first = first
    this.#get = get
    this.#isTimed = isTimed
  }

  /** @param at ms since 1970 */
  evaluate(write: LoggedWrite, at: number): void {
    this.at = at
    const { idempotencyKey } = write
    if (idempotencyKey === undefined) return this.#addOutcome(this.#computeEffect(write, at))
    const fingerprint = computeFingerprint(write)
    const key = toIdempotencyRow(idempotencyKey)
    const existing = this.#getRecord(key, at)
    if (existing) return this.#addOutcome(undefined, readOutcome(existing, fingerprint))
    const number = this.#first + this.effects.length
    const revision = this.#computeEffect(write, at)
    this.#addOutcome(revision)
    // What was refused as well: another copy of it may still be on its way, and is to be refused, too.
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

  /** The write's revision, if it happens. */
  #computeEffect({ ops, condition }: LoggedWrite, at: number): string | undefined {
    // One that does not happen has one, too.
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

  /** Returns the ETag of a value that has not expired at a time. */
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

/** What a write was told that has this record, if it was this one. */
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
