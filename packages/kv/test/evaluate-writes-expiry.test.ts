import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WriteCondition } from '../src/core/write-condition.ts'
import { evaluate, KEY_REUSED, IDEMPOTENCY_TTL_MS } from '../src/core/evaluate-writes.ts'
import type { Op } from '../src/core/change-lines.ts'
import { toRevision, toEtag, toStored } from '../src/core/stored-value.ts'
import type { LoggedWrite } from '../src/core/encode-writes.ts'
import { putInternalRows } from '../src/store/ttl.ts'

const KEYS = ['a', 'b']

/** Expected result of a read, by key: the tag of a value and the time at which it expires. */
type ModelEntry = Map<string, { readonly etag: string; readonly until: number }>

/** Tags of a condition: the key's current tag, the tag of another key, the tag of no value, or any tag. */
const tagKind = fc.constantFrom('own', 'other', 'never', '*')
const step = fc.record({
  key: fc.constantFrom(...KEYS),
  ops: fc.array(
    fc.record({
      kind: fc.constantFrom('put', 'put', 'del', 'expire', 'expire'),
      /** Key of each operation except the first, which uses the key of the condition. */
      key: fc.constantFrom(...KEYS),
      expiry: fc.constantFrom('none', 'none', 'ttl', 'at'),
      ms: fc.integer({ min: -3, max: 12 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  match: fc.option(tagKind, { nil: undefined, freq: 3 }),
  noneMatch: fc.option(tagKind, { nil: undefined, freq: 4 }),
  name: fc.option(fc.constantFrom('n', 'm'), { nil: undefined, freq: 5 }),
  passes: fc.constantFrom(0, 0, 1, 3, 9, IDEMPOTENCY_TTL_MS),
  /** True if the test removes due values before the write. */
  isSwept: fc.boolean(),
  /** True if the write is evaluated together with the previous one. */
  isJoined: fc.boolean(),
})

it('evaluates conditions, expiries and repeated changes like a model, with any clock', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      const base = new Map<string, Buffer>()
      const target = {
        put: (key: Buffer, value: Buffer) => base.set(key.toString('latin1'), value),
        del: (key: Buffer) => base.delete(key.toString('latin1')),
      }
      const get = (key: Buffer) => base.get(key.toString('latin1'))
      const model: ModelEntry = new Map()
      const records = new Map<string, { text: string; outcome: string | undefined; until: number }>()
      let now = 1_000_000
      let number = 0

      /** Evaluates writes and applies their effects to the database. */
      function commitWrites(writes: readonly LoggedWrite[]): readonly (string | undefined)[] {
        const result = evaluate(writes, number + 1, get, true, () => now)
        number += writes.length
        for (const [i, { ops }] of writes.entries()) {
          const revision = result.effects[i]
          for (const op of revision === undefined ? [] : ops) {
            if (op.type === 'put') target.put(op.key, toStored(revision!, op.value))
            else if (op.type === 'del') target.del(op.key)
          }
        }
        putInternalRows(result, target)
        return result.outcomes
      }

      /** Applies a write with this revision to the model. @returns the expected outcome */
      function applyWrite({ ops, condition, idempotencyKey }: LoggedWrite, revision: string): string | undefined {
        const text = JSON.stringify([ops, condition])
        const known = idempotencyKey === undefined ? undefined : records.get(idempotencyKey)
        if (known && known.until > now) return known.text === text ? known.outcome : KEY_REUSED
        const live = (key: string) => (model.has(key) && model.get(key)!.until > now ? model.get(key) : undefined)
        const etag = live(ops[0]!.key.toString())?.etag
        const isMatching = (tags: WriteCondition['match']) =>
          etag !== undefined && (tags === '*' || tags!.includes(etag))
        const isHeld =
          (!condition?.match || isMatching(condition.match)) &&
          (!condition?.noneMatch || !isMatching(condition.noneMatch))
        for (const op of isHeld ? ops : []) {
          const key = op.key.toString()
          if (op.type === 'del') model.delete(key)
          else {
            const until = op.ttl === undefined ? (op.expiresAt ?? Infinity) : now + op.ttl
            if (op.type === 'put') model.set(key, { etag: toEtag(revision), until })
            else if (live(key)) model.set(key, { etag: live(key)!.etag, until })
          }
        }
        const outcome = isHeld ? revision : undefined
        if (idempotencyKey !== undefined)
          records.set(idempotencyKey, { text, outcome, until: now + IDEMPOTENCY_TTL_MS })
        return outcome
      }

      let waiting: LoggedWrite[] = []
      let expected: (string | undefined)[] = []
      function applyPending(): void {
        if (waiting.length > 0) expect(commitWrites(waiting)).toEqual(expected)
        ;[waiting, expected] = [[], []]
        for (const key of KEYS) {
          const stored = get(Buffer.from(key))
          const time = base.get(`\xfft${key}`)?.readUIntBE(0, 6) ?? Infinity
          const known = model.get(key)
          const seen = stored && time > now ? { etag: `"${stored.toString('latin1', 0, 8)}"`, until: time } : undefined
          expect([key, seen]).toEqual([key, known && known.until > now ? known : undefined])
        }
      }

      for (const { key, ops: kinds, match, noneMatch, name, passes, isSwept, isJoined } of steps) {
        if (!isJoined) {
          applyPending()
          now += passes
          applyPending()
        }
        if (isSwept && !isJoined) {
          const due = [...base.keys()].filter((one) => one.startsWith('\xffe')).map((one) => Buffer.from(one, 'latin1'))
          const past = due
            .map((one) => ({ time: one.readUIntBE(2, 6), key: one.subarray(8) }))
            .filter(({ time }) => time <= now)
          commitWrites(past.map(({ time, key }) => ({ ops: [{ type: 'del', key }], condition: { due: time } })))
          for (const [id, { until }] of model) if (until <= now) model.delete(id)
        }
        const ops = kinds.map(({ kind, key: other, expiry, ms }, i): Op => {
          const id = Buffer.from(i === 0 ? key : other)
          if (kind === 'del') return { type: 'del', key: id }
          const more = expiry === 'none' ? {} : expiry === 'ttl' ? { ttl: Math.max(ms, 1) } : { expiresAt: now + ms }
          return kind === 'put'
            ? { type: 'put', key: id, value: Buffer.from('x'), ...more }
            : { type: 'expire', key: id, ...more }
        })
        const tags = (kind: string): '*' | string[] =>
          kind === '*'
            ? '*'
            : kind === 'never'
              ? ['"never"']
              : [model.get(kind === 'own' ? key : KEYS.find((one) => one !== key)!)?.etag ?? '"x"']
        const condition = { ...(match && { match: tags(match) }), ...(noneMatch && { noneMatch: tags(noneMatch) }) }
        const write: LoggedWrite = {
          ops,
          ...((match || noneMatch) && { condition }),
          ...(name && { idempotencyKey: name }),
          isSpecial: true,
        }
        expected.push(applyWrite(write, toRevision(number + 1 + waiting.length)))
        waiting.push(write)
      }
      applyPending()
    }),
    { numRuns: 2_000 },
  )
})
