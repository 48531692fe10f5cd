import { FREE, type Query } from '../core/query.ts'
import { hasDates } from '../core/rows.ts'
import { ambiguous, NONE, type IndexKind, type PriceIndex, type Segments } from './index.ts'
import { buildOfferings, updateOfferings, type OfferingCodec, type PlacedRow } from './placed-row.ts'
import { Segment, writeSegment, type SegmentEntry } from './segment.ts'

// Sets besides those of terms.
const DEFAULTS = -2
const PARTS = -3
// A part: group, spec, first place, place after the last.
const PART = 4

/**
 * One plain bitset per offering and value. The rows of an offering are ordered by group and spec, so that a query, which
 * names both, looks at the words of its part only: a tenth of them in the sample.
 */
export function createBitsetIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, bitsets),
    update: (segments, changes) => updateOfferings(segments, changes, bitsets),
    read: (segments) => new BitsetIndex(partsOf(segments)),
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array) => new Uint8Array(buffer, byteOffset, byteLength)

const bitsets: OfferingCodec = {
  encode(unordered) {
    const rows = unordered.toSorted((a, b) => a.group - b.group || a.spec - b.spec || a.row - b.row)
    const words = Math.ceil(rows.length / 32)
    const sets = new Map<number, { bits: Int32Array; cardinality: number }>()
    const parts: number[] = []
    rows.forEach((row, place) => {
      const { group, spec, values, isDefault } = row
      if (parts.at(-4) !== group || parts.at(-3) !== spec) parts.push(group, spec, place, place)
      parts[parts.length - 1] = place + 1
      for (const key of isDefault ? [...values, DEFAULTS] : values) {
        let set = sets.get(key)
        if (!set) sets.set(key, (set = { bits: new Int32Array(words), cardinality: 0 }))
        set.bits[place >> 5]! |= 1 << (place & 31)
        set.cardinality++
      }
    })
    const entries: SegmentEntry[] = Array.from(sets, ([key, { bits, cardinality }]) => ({
      key,
      cardinality,
      bytes: bytesOf(bits),
    }))
    entries.push({ key: PARTS, cardinality: parts.length / PART, bytes: bytesOf(Int32Array.from(parts)) })
    const days = rows.some(hasDates)
      ? { from: Int32Array.from(rows, ({ from }) => from), to: Int32Array.from(rows, ({ to }) => to) }
      : undefined
    return writeSegment({ rows: rows.map(({ row }) => row), days, entries })
  },

  decode(bytes) {
    const segment = new Segment(bytes)
    const rows: (PlacedRow & { values: number[]; isDefault: boolean })[] = []
    for (const { group, spec, first, end } of readParts(segment)) {
      for (let place = first; place < end; place++) {
        const [from, to] = [segment.from(place), segment.to(place)]
        rows.push({ row: segment.rowAt(place), group, spec, from, to, offering: FREE, values: [], isDefault: false })
      }
    }
    for (const [key, position] of segment.keys()) {
      if (key === PARTS) continue
      const start = segment.wordOf(position)
      rows.forEach((row, place) => {
        if (((segment.words[start + (place >> 5)]! >> (place & 31)) & 1) === 0) return
        if (key === DEFAULTS) row.isDefault = true
        else row.values.push(key)
      })
    }
    return rows
  },
}

interface Part {
  readonly group: number
  readonly spec: number
  readonly first: number
  readonly end: number
}

function readParts(segment: Segment): Part[] {
  const position = segment.positionOf(PARTS)
  const start = segment.wordOf(position)
  return Array.from({ length: segment.cardinality(position) }, (_, i) => {
    const [group, spec, first, end] = segment.words.subarray(start + PART * i, start + PART * (i + 1))
    return { group: group!, spec: spec!, first: first!, end: end! }
  })
}

/** The rows of one offering as a thread searches them. */
class OfferingBits {
  readonly segment: Segment
  readonly parts: readonly Part[]
  readonly #bySpec = new Map<number, Map<number, Part>>()
  /** Where the bitset of the default rows begins, or -1. */
  readonly defaults: number

  constructor(bytes: Uint8Array) {
    this.segment = new Segment(bytes)
    this.parts = readParts(this.segment)
    for (const part of this.parts) {
      const ofSpec = this.#bySpec.get(part.spec) ?? new Map<number, Part>()
      this.#bySpec.set(part.spec, ofSpec.set(part.group, part))
    }
    const position = this.segment.positionOf(DEFAULTS)
    this.defaults = position < 0 ? -1 : this.segment.wordOf(position)
  }

  part(group: number, spec: number): Part | undefined {
    return this.#bySpec.get(spec)?.get(group)
  }
}

const partsOf = (segments: Segments): Map<number, OfferingBits> =>
  new Map(Array.from(segments, ([offering, bytes]) => [offering, new OfferingBits(bytes)]))

const MOST = 128
const NO_ROW = -1

class BitsetIndex implements PriceIndex {
  readonly #offerings: Map<number, OfferingBits>
  // Where the bitsets to intersect begin, the rarest first.
  readonly #starts = new Int32Array(MOST)
  readonly #sizes = new Int32Array(MOST)
  #any: Int32Array[] = []
  // What the parts scanned so far have given.
  #found = 0
  #first = NO_ROW
  #chosen = NO_ROW

  constructor(offerings: Map<number, OfferingBits>) {
    this.#offerings = offerings
  }

  with(changed: Segments): PriceIndex {
    return new BitsetIndex(new Map([...this.#offerings, ...partsOf(changed)]))
  }

  find(query: Query): number {
    const bits = this.#offerings.get(query.offering)
    const part = bits?.part(query.group, query.spec)
    if (!part || !this.#gather(bits!.segment, query)) return NONE
    this.#begin()
    this.#scan(bits!, part, query)
    if (this.#found === 0) return NONE
    const place = this.#found === 1 ? this.#first : this.#chosen
    return place === NO_ROW ? ambiguous(this.#found) : bits!.segment.rowAt(place)
  }

  count(query: Query): number {
    const bits = this.#offerings.get(query.offering)
    if (!bits || !this.#gather(bits.segment, query)) return 0
    this.#begin()
    for (const part of bits.parts) {
      if (query.group !== FREE && query.group !== part.group) continue
      if (query.spec !== FREE && query.spec !== part.spec) continue
      this.#scan(bits, part, query)
    }
    return this.#found
  }

  #begin(): void {
    this.#found = 0
    this.#first = NO_ROW
    this.#chosen = NO_ROW
  }

  /** Finds where the bitsets of a query lie; false where there is no such bitset. */
  #gather(segment: Segment, { values, count, any }: Query): boolean {
    for (let i = 0; i < count; i++) {
      const position = segment.positionOf(values[i]!)
      if (position < 0) return false
      const size = segment.cardinality(position)
      let at = i
      for (; at > 0 && this.#sizes[at - 1]! > size; at--) {
        this.#sizes[at] = this.#sizes[at - 1]!
        this.#starts[at] = this.#starts[at - 1]!
      }
      this.#sizes[at] = size
      this.#starts[at] = segment.wordOf(position)
    }
    if (any.length === 0 && this.#any.length === 0) return true
    this.#any = any.map((terms) =>
      Int32Array.from([...terms].map((term) => segment.positionOf(term)).filter((position) => position >= 0)).map(
        (position) => segment.wordOf(position),
      ),
    )
    return this.#any.every(({ length }) => length > 0)
  }

  #scan({ segment, defaults }: OfferingBits, { first, end }: Part, { count, at }: Query): void {
    const { words } = segment
    const starts = this.#starts
    const firstWord = first >> 5
    const lastWord = (end - 1) >> 5
    for (let word = firstWord; word <= lastWord; word++) {
      let bits = word === firstWord ? -1 << (first & 31) : -1
      if (word === lastWord) bits &= -1 >>> (31 - ((end - 1) & 31))
      for (let i = 0; i < count && bits !== 0; i++) bits &= words[starts[i]! + word]!
      if (bits === 0) continue
      for (const union of this.#any) {
        let either = 0
        for (const start of union) either |= words[start + word]!
        bits &= either
      }
      for (; bits !== 0; bits &= bits - 1) {
        const place = (word << 5) + 31 - Math.clz32(bits & -bits)
        if (at !== undefined && !segment.validOn(place, at)) continue
        if (this.#found++ === 0) this.#first = place
        if (defaults < 0 || this.#chosen !== NO_ROW) continue
        if ((words[defaults + word]! & bits & -bits) !== 0) this.#chosen = place
      }
    }
  }
}
