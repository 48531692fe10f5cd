import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FIRST_MOMENT, LAST_MOMENT } from '../src/core/values/moment.ts'
import { SearchQuery } from '../src/core/search-query.ts'
import { splitIntoPartitions } from '../src/index/offerings/partitions.ts'
import type { NumberedRow } from '../src/index/offerings/offering-codec.ts'
import {
  NO_COUNT,
  readWholeRows,
  WholeRowFinder,
  createWholeRows,
  type WholeRows,
} from '../src/index/offerings/whole-rows.ts'
import { Segment, writeSegment } from '../src/index/sets/segment.ts'

const [OFFERING, SPEC, CHARS] = [1, 20, 3]

const createRows = (of: readonly { readonly group: number; readonly values: readonly number[] }[]) =>
  splitIntoPartitions(
    of.map((one, row): NumberedRow => {
      const chars = one.values.length
      return {
        ...one,
        row,
        chars,
        offering: OFFERING,
        spec: SPEC,
        isDefault: false,
        from: FIRST_MOMENT,
        to: LAST_MOMENT,
      }
    }),
  )

function writeAndRead({ rows, partitions }: ReturnType<typeof createRows>): WholeRows | undefined {
  const entries = createWholeRows(rows, partitions)
  return readWholeRows(new Segment(writeSegment({ rows: rows.map(({ row }) => row), moments: undefined, entries })))
}

function createQuery(group: number, values: readonly number[]): SearchQuery {
  const query = new SearchQuery()
  query.reset(OFFERING, group, SPEC)
  values.forEach((term, i) => (query.values[i] = term))
  query.count = values.length
  return query
}

/** Two values of each characteristic, with this distance between their terms. */
const toTerm = (char: number, value: number, apart: number) => 5 + char * apart + value

const row = fc.record({
  group: fc.integer({ min: 10, max: 12 }),
  chosen: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: CHARS - 1, maxLength: CHARS }),
})

it('finds all rows of a partition with the requested values, in any order', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.array(row, { minLength: 1, maxLength: 20 }),
      // Values of 1 byte, of exactly one, of 2, of exactly 2, and of 4.
      fc.constantFrom(2, 127, 128, 32_767, 32_768),
      fc.boolean(),
      (drawn, searched, apart, isReversed) => {
        const toRow = ({ group, chosen }: (typeof drawn)[number]) => {
          return { group, values: chosen.map((value, char) => toTerm(char, value, apart)) }
        }
        const all = createRows(drawn.map(toRow))
        const whole = writeAndRead(all)
        const width = Math.max(...all.rows.map(({ values }) => values.length))
        const finder = new WholeRowFinder()
        for (const { group, values } of [...drawn, ...searched].map(toRow)) {
          const partition = all.partitions.find((one) => one.group === group)
          if (!partition) continue
          const queryValues = isReversed ? values.toReversed() : values
          const size = finder.find(whole, createQuery(group, queryValues), partition)
          if (values.length !== width) {
            expect(size).toBe(NO_COUNT)
            continue
          }
          const expected = all.rows
            .slice(partition.first, partition.end)
            .flatMap((one, i) => (values.every((term) => one.values.includes(term)) ? [i] : []))
          expect([...finder.found.subarray(0, size)]).toEqual(expected)
          found += expected.length
        }
      },
    ),
    { numRuns: scaleRuns(500) },
  )
  expect(found).toBeGreaterThan(500)
})

it('leaves a query with a duplicate value to the sets', () => {
  const all = createRows([{ group: 10, values: [5, 7, 9] }])
  const finder = new WholeRowFinder()
  const find = (...values: number[]) => finder.find(writeAndRead(all), createQuery(10, values), all.partitions[0]!)
  expect(find(5, 7, 7)).toBe(NO_COUNT)
  expect(find(5, 7, 9)).toBe(1)
  // An earlier query has no effect.
  expect(find(5, 7, 11)).toBe(0)
  expect(find(5, 7)).toBe(NO_COUNT)
  expect(find(5, 7, 9, 11)).toBe(NO_COUNT)
  expect(find(5, 7, 4_000_000)).toBe(0)
})

it('is not built for too many similar rows, empty rows, or very different numbers of values', () => {
  const createAlikeRows = (count: number) =>
    createRows(Array.from({ length: count }, () => ({ group: 10, values: [5, 7] })))
  const [small, large] = [createAlikeRows(100), createAlikeRows(200)]
  expect(new WholeRowFinder().find(writeAndRead(small), createQuery(10, [7, 5]), small.partitions[0]!)).toBe(100)
  expect(writeAndRead(large)).toBeUndefined()
  expect(writeAndRead(createRows([{ group: 10, values: [] }]))).toBeUndefined()
  const one = { group: 10, values: [5] }
  const wide = { group: 10, values: Array.from({ length: 50 }, (_, i) => 5 + i) }
  expect(writeAndRead(createRows([...Array.from({ length: 50 }, () => one), wide]))).toBeUndefined()
})

it('takes one byte per value and four per row', () => {
  const rows = Array.from({ length: 1_024 }, (_, i) => ({
    group: 10,
    values: Array.from({ length: 10 }, (_value, bit) => 5 + 2 * bit + ((i >> bit) & 1)),
  }))
  const { rows: ordered, partitions } = createRows(rows)
  expect(createWholeRows(ordered, partitions)[0]!.bytes.length).toBe(16 + 1_024 * (10 + 4))
})
