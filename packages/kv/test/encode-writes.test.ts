import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WriteCondition } from '../src/core/write-condition.ts'
import { changesExpiry, type Op } from '../src/core/change-lines.ts'
import { decodeWrites, encodeWrites, type LoggedWrite } from '../src/core/encode-writes.ts'

const bytes = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((one) => Buffer.from(one))
const tags = fc.oneof(
  fc.constant('*' as const),
  fc.array(fc.constantFrom('"a"', 'W/"b"', '"\u00ff"'), { maxLength: 3 }),
)
const condition: fc.Arbitrary<WriteCondition | undefined> = fc.option(
  fc.oneof(fc.record({ match: tags }), fc.record({ noneMatch: tags }), fc.record({ match: tags, noneMatch: tags })),
  { nil: undefined },
)
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), key: bytes(1, 30), value: bytes(0, 60) }),
  fc.record({
    type: fc.constant('put' as const),
    key: bytes(1, 30),
    value: bytes(0, 60),
    ttl: fc.maxSafeNat().map((n) => n % 2 ** 48),
  }),
  fc.record({ type: fc.constant('put' as const), key: bytes(1, 30), value: bytes(0, 60), expiresAt: fc.nat() }),
  fc.record({ type: fc.constant('del' as const), key: bytes(1, 30) }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30) }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30), ttl: fc.nat() }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30), expiresAt: fc.nat() }),
)
const write: fc.Arbitrary<LoggedWrite> = fc
  .record({
    ops: fc.array(op, { minLength: 1, maxLength: 4 }),
    condition,
    name: fc.option(fc.constantFrom('a', 'key'), { nil: undefined }),
  })
  .map(({ ops, condition, name }) => ({
    ops,
    ...(condition && { condition: condition }),
    ...(name && { idempotencyKey: name }),
    ...((name || ops.some(changesExpiry)) && { isSpecial: true }),
  }))

describe('writes as an entry of the log', () => {
  it('are decoded to the same writes', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 6 }), (writes) => {
        expect(decodeWrites(encodeWrites(writes))).toEqual(writes)
      }),
    )
  })

  it('are refused if they are truncated', () => {
    const entry = encodeWrites([
      { ops: [{ type: 'put', key: Buffer.from('k'), value: Buffer.from('v') }], condition: { match: ['"a"'] } },
    ])
    for (let length = 1; length < entry.length; length++)
      expect(() => decodeWrites(entry.subarray(0, length))).toThrow(RangeError)
  })
})
