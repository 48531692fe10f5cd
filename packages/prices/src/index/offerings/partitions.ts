import { ANY_TERM, type Choice, type SearchQuery } from '../../core/search-query.ts'
import { explainTests } from '../explain-tests.ts'
import type { Columns, ColumnSource } from './columns.ts'
import type { NumberedRow } from './offering-codec.ts'
import { DEFAULTS_KEY, type Segment, type SegmentEntry } from '../sets/segment.ts'

/** The key of the entry that lists an offering's partitions. */
export const PARTITIONS_KEY = -3
// The fields of an encoded partition: group, spec, first ordinal, ordinal after the last.
const CELLS_PER_PARTITION = 4

/**
 * The rows of an offering that have one group and one spec. Their ordinals (numbers within the offering, from 0) are
 * consecutive: from `first` up to, not including, `end`. A query names a group and a spec, so it needs one partition.
 */
export interface Partition {
  readonly group: number
  readonly spec: number
  readonly first: number
  readonly end: number
}

export const toBytes = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/**
 * Returns the common key of rows of one group and one spec. It is exact below 2 ** 26 terms, and catalogs have far
 * fewer.
 */
const toPartitionKey = ({ group, spec }: NumberedRow) => group * 2 ** 26 + spec

/** @param rows ascending; @returns the same rows grouped by partition and in order within it, and the partitions */
export function splitIntoPartitions<R extends NumberedRow>(rows: readonly R[]): { rows: R[]; partitions: Partition[] } {
  // Sorting the rows takes three times as long as sorting their keys.
  const parts = [...Map.groupBy(rows, toPartitionKey)].sort(([a], [b]) => a - b)
  let first = 0
  const partitions = parts.map(([, part]) => {
    const { group, spec } = part[0]!
    return { group, spec, first, end: (first += part.length) }
  })
  return { rows: parts.flatMap(([, part]) => part), partitions }
}

export const createPartitionsEntry = (partitions: readonly Partition[]): SegmentEntry => ({
  key: PARTITIONS_KEY,
  cardinality: partitions.length,
  bytes: toBytes(Int32Array.from(partitions.flatMap(({ group, spec, first, end }) => [group, spec, first, end]))),
})

export function readPartitions(segment: Segment): Partition[] {
  const position = segment.findPosition(PARTITIONS_KEY)
  const start = segment.getWordStart(position)
  return Array.from({ length: segment.getCardinality(position) }, (_, i) => {
    const [group, spec, first, end] = segment.words.subarray(
      start + CELLS_PER_PARTITION * i,
      start + CELLS_PER_PARTITION * (i + 1),
    )
    return { group: group!, spec: spec!, first: first!, end: end! }
  })
}

/** Returns the groups and specs of partitions. */
export const listGroupsAndSpecs = (partitions: readonly Partition[]): number[] => [
  ...new Set(partitions.flatMap(({ group, spec }) => [group, spec])),
]

/**
 * Returns the partitions whose group or spec is `term`; all partitions if `term` is the offering.
 * @param all the term of the offering
 */
export const filterPartitions = <P extends Partition>(
  partitions: readonly P[],
  term: number,
  all: number,
): readonly P[] => (term === all ? partitions : partitions.filter(({ group, spec }) => group === term || spec === term))

/** Finds partitions by their group and spec. */
export class PartitionTable<P extends Partition> {
  readonly list: readonly P[]
  readonly #bySpec = new Map<number, Map<number, P>>()

  constructor(list: readonly P[]) {
    this.list = list
    for (const partition of list) {
      const ofSpec = this.#bySpec.get(partition.spec) ?? new Map<number, P>()
      this.#bySpec.set(partition.spec, ofSpec.set(partition.group, partition))
    }
  }

  find(group: number, spec: number): P | undefined {
    return this.#bySpec.get(spec)?.get(group)
  }

  /** Returns the partitions of a group and a spec, each of which may be `ANY_TERM`. */
  select(group: number, spec: number): readonly P[] {
    if (group === ANY_TERM || spec === ANY_TERM)
      return this.list.filter(
        (one) => (group === ANY_TERM || one.group === group) && (spec === ANY_TERM || one.spec === spec),
      )
    const partition = this.find(group, spec)
    return partition ? [partition] : []
  }
}

/** The rows of an offering, partition by partition. */
interface PartitionedSource extends ColumnSource {
  readonly partitions: PartitionTable<Partition>
}

/** Returns the result of an index's `explain` for an offering, which may not exist. */
export function explainPartitions(
  { group, spec, at }: SearchQuery,
  choices: readonly Choice[],
  offering: PartitionedSource | undefined,
  columns: Columns,
): number[] {
  let all = 0
  let ofGroup = 0
  const ordinals: number[] = []
  for (const partition of offering?.partitions.list ?? []) {
    const size = partition.end - partition.first
    all += size
    if (partition.group !== group) continue
    ofGroup += size
    if (partition.spec === spec) for (let i = 0; i < size; i++) ordinals.push(partition.first + i)
  }
  const moment = at === undefined ? [] : [at]
  const tests = offering ? columns.createTests(offering, choices, at) : [...choices, ...moment].map(() => () => false)
  return [all, ofGroup, ...explainTests(ordinals, tests)]
}

/** Decodes the rows of an offering. Values and default flags are read set by set. */
export function readRows(segment: Segment, offering: PartitionedSource): NumberedRow[] {
  const rows = offering.partitions.list.flatMap(({ group, spec, first, end }) =>
    Array.from({ length: end - first }, (_, i) => {
      const ordinal = first + i
      const [row, from, to] = [segment.getRow(ordinal), segment.getFrom(ordinal), segment.getTo(ordinal)]
      const chars = segment.getChars(ordinal)
      return { row, group, spec, from, to, chars, offering: ANY_TERM, values: [] as number[], isDefault: false }
    }),
  )
  for (const term of offering.getValueTerms())
    offering.forEachOrdinal(term, (ordinal) => rows[ordinal]!.values.push(term))
  offering.forEachOrdinal(DEFAULTS_KEY, (ordinal) => (rows[ordinal]!.isDefault = true))
  return rows
}
