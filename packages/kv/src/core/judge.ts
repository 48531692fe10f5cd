import { createHash } from 'node:crypto'
import { holds } from '@influencer-stats/runtime/conditions'
import type { Condition } from './condition.ts'
import type { Op } from './lines.ts'
import { expiryKey, nameKey, timeOf } from './own-keys.ts'
import { etagOf, REVISION_LENGTH, revisionOf, toEtag, toStored, valueOf } from './stored.ts'
import { encodeWrites, type LoggedWrite } from './writes.ts'

/**
 * Of each write its revision; nothing in the place of one whose condition did not hold, `KEY_REUSED` of one whose
 * idempotency key is that of another.
 */
export type Outcomes = readonly (string | undefined)[]

/** No revision. */
export const KEY_REUSED = ''

// What begins the record of a write with an idempotency key, before its fingerprint.
const REFUSED = 0
const DONE = 1

/** How long the outcome of a write with an idempotency key is known (ms). */
export const REMEMBERED = 3_600_000

/** When what is under a key expires. */
export interface Expiry {
  readonly key: Buffer
  /** As it is kept; nothing: it does not expire. */
  readonly before: number | undefined
  readonly after: number | undefined
}

/** What writes were judged to be. */
export interface Judgement {
  /** What who wrote is told. */
  readonly outcomes: Outcomes
  /** The revisions of those that change something. */
  readonly effects: Outcomes
  /** When that was (ms since 1970), where something may expire. */
  readonly at?: number
  /** What changes of when keys expire, by key. */
  readonly expiries?: ReadonlyMap<string, Expiry>
  /** Expiry changes for keys without a value; they have no effect. */
  readonly ineffective?: ReadonlySet<Op>
  /** What is to be known of writes with idempotency keys. */
  readonly records?: readonly (readonly [key: Buffer, stored: Buffer])[]
}

/** Whether anything is to be written of it. */
export const hasEffect = ({ effects, records }: Judgement): boolean =>
  effects.some((revision) => revision !== undefined) || (records !== undefined && records.length > 0)

/**
 * True if the reply to a write repeats the outcome of an earlier write, because its idempotency key was used before. A durable
 * reply then depends on that earlier write.
 */
export const isReplay = ({ idempotencyKey }: LoggedWrite, index: number, { effects, outcomes }: Judgement): boolean =>
  idempotencyKey !== undefined && effects[index] === undefined && outcomes[index] !== KEY_REUSED

/** What is kept under a key, be it the service's own. */
export type Get = (key: Buffer) => Buffer | undefined

/**
 * Judges writes as they follow each other.
 * @param isTimed whether something that is kept may expire
 */
export function judge(
  writes: readonly LoggedWrite[],
  first: number,
  get: Get,
  isTimed: boolean,
  now: () => number = Date.now,
): Judgement {
  if (!isTimed && !writes.some(({ condition, isSpecial }) => condition || isSpecial)) return judgePlain(writes, first)
  const draft = new Draft(first, get, isTimed)
  const at = now()
  for (const write of writes) draft.judge(write, at)
  return draft
}

/** Each happens. */
function judgePlain(writes: readonly LoggedWrite[], first: number): Judgement {
  const outcomes = writes.map((_, i) => revisionOf(first + i))
  return { outcomes, effects: outcomes }
}

const textOf = (key: Buffer) => key.toString('latin1')

/** Judges writes one after the other, each by what those before it will have left. */
export class Draft implements Judgement {
  readonly outcomes: (string | undefined)[] = []
  readonly effects: (string | undefined)[] = []
  at = 0
  readonly expiries = new Map<string, Expiry>()
  readonly ineffective = new Set<Op>()
  readonly records: [key: Buffer, stored: Buffer][] = []
  readonly #get: Get
  readonly #isTimed: boolean
  readonly #first: number
  readonly #etags = new Map<string, string | undefined>()
  readonly #recorded = new Map<string, Buffer>()

  /** @param isTimed whether what is kept may expire */
  constructor(first: number, get: Get, isTimed: boolean) {
    this.#first = first
    this.#get = get
    this.#isTimed = isTimed
  }

  /** @param at ms since 1970 */
  judge(write: LoggedWrite, at: number): void {
    this.at = at
    const { idempotencyKey } = write
    if (idempotencyKey === undefined) return this.#add(this.#effectOf(write, at))
    const fingerprint = fingerprintOf(write)
    const key = nameKey(idempotencyKey)
    const known = this.#recordAt(key, at)
    if (known) return this.#add(undefined, outcomeIn(known, fingerprint))
    const number = this.#first + this.effects.length
    const revision = this.#effectOf(write, at)
    this.#add(revision)
    // What was refused as well: another copy of it may still be on its way, and is to be refused, too.
    const fate = Buffer.of(revision === undefined ? REFUSED : DONE)
    const stored = toStored(revisionOf(number), Buffer.concat([fate, fingerprint]))
    this.#recorded.set(textOf(key), stored)
    this.records.push([key, stored])
    this.#expire(key, at + REMEMBERED)
  }

  #add(effect: string | undefined, outcome = effect): void {
    this.effects.push(effect)
    this.outcomes.push(outcome)
  }

  /** The write's revision, if it happens. */
  #effectOf({ ops, condition }: LoggedWrite, at: number): string | undefined {
    // One that does not happen has one, too.
    const revision = revisionOf(this.#first + this.effects.length)
    if (condition && !this.#holds(condition, ops[0]!.key, at)) return undefined
    for (const op of ops) {
      if (op.type !== 'expire') this.#etags.set(textOf(op.key), op.type === 'put' ? toEtag(revision) : undefined)
      else if (this.#liveEtagAt(op.key, at) === undefined) {
        this.ineffective.add(op)
        continue
      }
      this.#expire(op.key, expiryOf(op, at))
    }
    return revision
  }

  #holds(condition: Condition, key: Buffer, at: number): boolean {
    if (condition.due !== undefined) return this.#expiryAt(key) === condition.due && condition.due <= at
    return holds(condition, this.#liveEtagAt(key, at))
  }

  /** Returns the ETag of a value that has not expired at a time. */
  #liveEtagAt(key: Buffer, at: number): string | undefined {
    const expiry = this.#expiryAt(key)
    return expiry !== undefined && expiry <= at ? undefined : this.#etagAt(key)
  }

  #etagAt(key: Buffer): string | undefined {
    const text = textOf(key)
    if (this.#etags.has(text)) return this.#etags.get(text)
    const stored = this.#get(key)
    return stored && etagOf(stored)
  }

  #recordAt(key: Buffer, at: number): Buffer | undefined {
    const expiry = this.#expiryAt(key)
    if (expiry === undefined || expiry <= at) return undefined
    return this.#recorded.get(textOf(key)) ?? this.#get(key)
  }

  #expiryAt(key: Buffer): number | undefined {
    const known = this.expiries.get(textOf(key))
    return known ? known.after : this.#keptExpiry(key)
  }

  #keptExpiry(key: Buffer): number | undefined {
    const bytes = this.#isTimed ? this.#get(expiryKey(key)) : undefined
    return bytes && timeOf(bytes)
  }

  #expire(key: Buffer, after: number | undefined): void {
    const text = textOf(key)
    const known = this.expiries.get(text)
    const before = known ? known.before : this.#keptExpiry(key)
    if (known || before !== undefined || after !== undefined) this.expiries.set(text, { key, before, after })
  }
}

/** What a write was told that has this record, if it was this one. */
function outcomeIn(record: Buffer, fingerprint: Buffer): string | undefined {
  const value = valueOf(record) as Buffer
  if (!value.subarray(1).equals(fingerprint)) return KEY_REUSED
  return value[0] === DONE ? record.toString('latin1', 0, REVISION_LENGTH) : undefined
}

function expiryOf(op: Op, at: number): number | undefined {
  if (op.type === 'del') return undefined
  return op.ttl === undefined ? op.expiresAt : at + op.ttl
}

function fingerprintOf({ ops, condition }: LoggedWrite): Buffer {
  return createHash('sha256')
    .update(encodeWrites([{ ops, ...(condition && { condition }) }]))
    .digest()
    .subarray(0, 16)
}
