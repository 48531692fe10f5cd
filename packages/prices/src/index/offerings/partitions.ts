import { FREE, type Choice, type Query } from '../../core/query.ts'
import { leftAfter } from '../left-after.ts'
import type { Columns, Placed } from './columns.ts'
import type { PlacedRow } from './placed-row.ts'
import { DEFAULTS, type Segment, type SegmentEntry } from '../sets/segment.ts'

/** The key of the set that lists an offering's partitions. */
export const PARTITIONS = -3
// A partition as it is written: group, spec, first place, place after the last.
const CELLS = 4

/** The rows of an offering that have one group and one spec: places that follow each other. A query names both. */
export interface Partition {
  readonly group: number
  readonly spec: number
  readonly first: number
  readonly end: number
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** What rows of one group and one spec share: exact below 2 ** 26 terms, and no catalog comes near. */
const keyOf = ({ group, spec }: PlacedRow) => group * 2 ** 26 + spec

/** @param rows ascending; @returns the same partition by partition, those of each in their order, and the partitions */
export function splitIntoPartitions<R extends PlacedRow>(rows: readonly R[]): { rows: R[]; partitions: Partition[] } {
  // Sorting the rows would take three times as long as sorting what they share.
  const parts = [...Map.groupBy(rows, keyOf)].sort(([a], [b]) => a - b)
  let first = 0
  const partitions = parts.map(([, part]) => {
    const { group, spec } = part[0]!
    return { group, spec, first, end: (first += part.length) }
  })
  return { rows: parts.flatMap(([, part]) => part), partitions }
}

export const partitionsEntry = (partitions: readonly Partition[]): SegmentEntry => ({
  key: PARTITIONS,
  cardinality: partitions.length,
  bytes: bytesOf(Int32Array.from(partitions.flatMap(({ group, spec, first, end }) => [group, spec, first, end]))),
})

export function readPartitions(segment: Segment): Partition[] {
  const position = segment.positionOf(PARTITIONS)
  const start = segment.wordOf(position)
  return Array.from({ length: segment.cardinality(position) }, (_, i) => {
    const [group, spec, first, end] = segment.words.subarray(start + CELLS * i, start + CELLS * (i + 1))
    return { group: group!, spec: spec!, first: first!, end: end! }
  })
}

/** The groups and specs that rows have. */
export const namesIn = (partitions: readonly Partition[]): number[] => [
  ...new Set(partitions.flatMap(({ group, spec }) => [group, spec])),
]

/** The partitions of the rows that have a group or a spec, or all of them. @param all the offering */
export const partitionsWith = <P extends Partition>(
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
}

/** The rows of an offering, partition by partition. */
interface PlacedInPartitions extends Placed {
  readonly partitions: PartitionTable<Partition>
}

/** What `left` of an index gives of an offering, if there is one. */
export function leftInPartitions(
  { group, spec, at }: Query,
  choices: readonly Choice[],
  offering: PlacedInPartitions | undefined,
  columns: Columns,
): number[] {
  let all = 0
  let ofGroup = 0
  const places: number[] = []
  for (const partition of offering?.partitions.list ?? []) {
    const size = partition.end - partition.first
    all += size
    if (partition.group !== group) continue
    ofGroup += size
    if (partition.spec === spec) for (let i = 0; i < size; i++) places.push(partition.first + i)
  }
  const day = at === undefined ? [] : [at]
  const tests = offering ? columns.testsOf(offering, choices, at) : [...choices, ...day].map(() => () => false)
  return [all, ofGroup, ...leftAfter(places, tests)]
}

/** Reads the rows of an offering back, their values and default flags set by set. */
export function readRows(segment: Segment, offering: PlacedInPartitions): PlacedRow[] {
  const rows = offering.partitions.list.flatMap(({ group, spec, first, end }) =>
    Array.from({ length: end - first }, (_, i) => {
      const place = first + i
      const [row, from, to] = [segment.rowAt(place), segment.from(place), segment.to(place)]
      return { row, group, spec, from, to, offering: FREE, values: [] as number[], isDefault: false }
    }),
  )
  for (const term of offering.valueTerms()) offering.eachPlace(term, (place) => rows[place]!.values.push(term))
  offering.eachPlace(DEFAULTS, (place) => (rows[place]!.isDefault = true))
  return rows
}
